import { afterAll, beforeAll, expect, test } from "bun:test";
import { createRegistry } from "../../src/chains/index.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createPricesService, type PricesService } from "../../src/prices/index.ts";
import { chainlink } from "../../src/prices/sources/chainlink.ts";
import { type AggregatorFeed, startAggregatorFeed } from "../../src/sandbox/aggregators.ts";
import { type FaultNode, startFaultNode } from "../../src/sandbox/faults/node.ts";
import { silentLogger } from "../../src/telemetry/index.ts";
import { createUpstreamPool, type UpstreamPool } from "../../src/upstream/index.ts";
import { accounts, type PreparedChain, startPreparedChain } from "../support/chain.ts";
import { codeOf } from "./support.ts";

let chain: PreparedChain;
let feed: AggregatorFeed;
let nodes: FaultNode[];
let pool: UpstreamPool;
let service: () => PricesService;

beforeAll(async () => {
  chain = await startPreparedChain(5042);
  const { aggregators } = chain.deployment;
  feed = await startAggregatorFeed({
    rpc: chain.rpc,
    owner: accounts.deployer.address,
    aggregators,
  });
  nodes = [1, 2].map(() => startFaultNode({ target: chain.url }));
  const registry = createRegistry({
    useDefaultUpstreams: false,
    override: { 5042: { upstreams: nodes.map(({ url }) => ({ url })) } },
  });
  pool = createUpstreamPool({ registry });
  const known = Object.entries(aggregators).map(([symbol, address]) => [
    symbol,
    { chainId: 5042, address, heartbeatSeconds: 60, decimals: 8 },
  ]);
  const config = {
    baseUrls: {},
    apiKeys: {},
    aggregators: Object.fromEntries(known),
    refreshMs: 15_000,
    timeoutMs: 2_000,
    maxDeviationBps: 100,
  };
  const sources = [chainlink];
  service = () =>
    createPricesService({ config, clock: systemClock, log: silentLogger, registry, pool, sources });
}, 60_000);
afterAll(async () => {
  feed.stop();
  pool.close();
  await Promise.all(nodes.map((node) => node.stop()));
  await chain.stop();
});

test("prices are read from the contracts, through the pool", async () => {
  await feed.submit({ USDC: 0.99981234, EURC: 1.16, USDT: 1.0001 });
  const { prices, sourceIds } = await service().current();
  expect(prices).toEqual({
    USDC: { usd: 0.99981234 },
    EURC: { usd: 1.16 },
    USDT: { usd: 1.0001 },
  });
  expect(sourceIds).toEqual(["chainlink"]);
});

test("one dead upstream costs nothing", async () => {
  await nodes[0]!.setFaults([{ kind: "down" }]);
  expect((await service().current()).prices["EURC"]?.usd).toBe(1.16);
  await nodes[0]!.setFaults([]);
});

test("rounds without a price, and those past their heartbeat, give none", async () => {
  for (const [usd, ageSeconds] of [
    [0, 0],
    [-1, 0],
    [250, 0],
    [1, 67],
  ] as const) {
    const at = new Date(Date.now() - ageSeconds * 1_000);
    await feed.submit({ USDC: usd, EURC: 1.16, USDT: 1 }, at);
    expect(await codeOf(service().current())).toBe("PRICE_FEED_UNREACHABLE");
  }
  await feed.submit({ USDC: 1, EURC: 1.16, USDT: 1 }, new Date(Date.now() - 60_000));
  expect(await codeOf(service().current())).toMatchObject({ sourceIds: ["chainlink"] });
});

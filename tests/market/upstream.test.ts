import { afterAll, beforeAll, expect, test } from "bun:test";
import { createRegistry } from "../../src/chains/index.ts";
import { seededRandom, systemClock } from "../../src/lib/clock.ts";
import {
  createMarket,
  type Market,
  type Snapshot,
  transportReader,
} from "../../src/market/index.ts";
import type { Fault } from "../../src/sandbox/faults/model.ts";
import { type FaultNode, startFaultNode } from "../../src/sandbox/faults/node.ts";
import { createUpstreamPool, type UpstreamPool } from "../../src/upstream/index.ts";
import { type PreparedChain, startPreparedChain } from "../support/sandbox.ts";
import { freshlyLoaded, poolsByAddress } from "./localMarket.ts";
import { Trader } from "./trader.ts";

const CHAIN_ID = 5042;
const random = seededRandom(11);

let chain: PreparedChain;
let nodes: FaultNode[];
let upstream: UpstreamPool;
let market: Market;
let trader: Trader;
const failed: string[] = [];

beforeAll(async () => {
  chain = await startPreparedChain();
  trader = await Trader.create(chain, random);
  nodes = [1, 2, 3].map(() => startFaultNode({ target: chain.url }));
  const { tokens, venues, multicall3 } = chain.deployment;
  const registry = createRegistry({
    useDefaultUpstreams: false,
    override: {
      [CHAIN_ID]: {
        upstreams: nodes.map(({ url }) => ({ url })),
        tokens: [...tokens],
        venues: [...venues],
        multicall3,
      },
    },
  });
  upstream = createUpstreamPool({ registry });
  market = createMarket({
    registry,
    reader: (chainId) => transportReader(upstream.transport(chainId)),
    clock: systemClock,
    observer: { pool: ({ state, reason }) => state === "failed" && failed.push(String(reason)) },
  });
});
afterAll(async () => {
  await market.stop();
  upstream.close();
  await Promise.all(nodes.map((node) => node.stop()));
  await chain.stop();
});

/** The snapshot of the chain's newest block, which the followers get to within their polls. */
async function atHead(): Promise<Snapshot> {
  const head = BigInt((await chain.rpc.call("eth_blockNumber")) as string);
  const deadline = performance.now() + 10_000;
  for (;;) {
    const snapshot = await market.snapshot(CHAIN_ID, { maxAgeMs: 0 });
    if (snapshot.blockNumber >= head) return snapshot;
    if (performance.now() > deadline) throw new Error(`stuck at ${snapshot.blockNumber}`);
  }
}

const faults: Record<string, readonly Fault[]> = {
  "lags behind": [{ kind: "lag", blocks: 3 }],
  "answers with errors": [{ kind: "rpcError", code: -32_603, message: "boom", probability: 0.5 }],
  "cuts its answers short": [{ kind: "truncate", probability: 0.5 }],
  "is down": [{ kind: "down" }],
};

test.each(Object.keys(faults))(
  "the state stays that of the chain while a node %s",
  async (name) => {
    const { pools } = await market.snapshot(CHAIN_ID);
    await nodes[0]!.setFaults(faults[name]!);
    for (let block = 0; block < 20; block++) {
      await trader.randomBlock(pools);
      await market.snapshot(CHAIN_ID, { maxAgeMs: 0 });
    }
    const snapshot = await atHead();
    const fresh = await freshlyLoaded(chain);
    expect(snapshot.blockHash).toBe(fresh.blockHash);
    expect(poolsByAddress(snapshot)).toEqual(poolsByAddress(fresh));
    expect(failed).toEqual([]);
    await nodes[0]!.setFaults([]);
  },
  60_000,
);

test("the state follows the chain through the pool when blocks are replaced", async () => {
  const { pools } = await market.snapshot(CHAIN_ID);
  for (let block = 0; block < 6; block++) await trader.randomBlock(pools);
  await atHead();
  await chain.rpc.call("anvil_reorg", [4, []]);
  await trader.randomBlock(pools);
  const snapshot = await atHead();
  const fresh = await freshlyLoaded(chain);
  expect(snapshot.blockHash).toBe(fresh.blockHash);
  expect(poolsByAddress(snapshot)).toEqual(poolsByAddress(fresh));
});

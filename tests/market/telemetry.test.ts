import { afterAll, beforeAll, expect, test } from "bun:test";
import { seededRandom } from "../../src/lib/clock.ts";
import type { Market, MarketObserver } from "../../src/market/index.ts";
import { createMetrics, observeMarket, silentLogger } from "../../src/telemetry/index.ts";
import { type PreparedChain, startPreparedChain } from "../support/sandbox.ts";
import { localMarket } from "./localMarket.ts";
import { Trader } from "./trader.ts";

let chain: PreparedChain;
beforeAll(async () => {
  chain = await startPreparedChain(5042);
});
afterAll(() => chain.stop());

/** A market that is observed, and what it logs. */
function observed() {
  const metrics = createMetrics();
  const lines: { fields: object; message: string }[] = [];
  const log = {
    ...silentLogger,
    warn: (fields: object, message: string) => void lines.push({ fields, message }),
  };
  const observer: MarketObserver = observeMarket(metrics, log, () => market.status());
  const local = localMarket(chain, { observer });
  const market: Market = local.market;
  const messages = () => lines.map(({ message }) => message);
  return { ...local, metrics, lines, messages };
}

/** A metric's value for the chain, 0 where there is no such row. */
async function valueOf(metrics: ReturnType<typeof createMetrics>, name: string, more = "") {
  const row = `causeway_market_${name}{chain="5042"${more}} `;
  const line = (await metrics.render()).split("\n").find((text) => text.startsWith(row));
  return line === undefined ? 0 : Number(line.slice(row.length));
}

test("blocks, logs, pools and their age are metrics; a reorg is counted and logged", async () => {
  const { market, metrics, lines } = observed();
  const { pools } = await market.snapshot(5042);
  const trader = await Trader.create(chain, seededRandom(3));
  const before = await market.snapshot(5042, { maxAgeMs: 0 });
  const kept = await chain.rpc.call("evm_snapshot", []);
  await trader.randomBlock(pools);
  const after = await market.snapshot(5042, { maxAgeMs: 0 });
  expect(after.blockNumber).toBe(before.blockNumber + 1n);
  expect(await valueOf(metrics, "block")).toBe(Number(after.blockNumber));
  expect(await valueOf(metrics, "folds_total")).toBeGreaterThan(0);
  expect(await valueOf(metrics, "pools_quotable")).toBe(pools.length);
  expect(await valueOf(metrics, "pool_loads_total", `,outcome="loaded"`)).toBe(pools.length);
  expect(await valueOf(metrics, "age_seconds")).toBeLessThan(60);
  expect(lines).toEqual([]);

  await chain.rpc.call("evm_revert", [kept]);
  await trader.randomBlock(pools);
  await market.snapshot(5042, { maxAgeMs: 0 });
  expect(await valueOf(metrics, "reorgs_total")).toBe(1);
  expect(await valueOf(metrics, "undone_blocks_total")).toBe(1);
  expect(lines).toEqual([
    { fields: { chainId: 5042, undoneBlocks: 1 }, message: "blocks were replaced" },
  ]);
  await market.stop();
});

test("a pool that is distrusted is counted and logged with the reason, and comes back", async () => {
  const { market, metrics, lines } = observed();
  const { pools } = await market.snapshot(5042);
  const { address } = pools[0]!;
  await market.distrust(5042, address, "paid too much");
  expect(lines).toEqual([
    {
      fields: { chainId: 5042, pool: address, state: "failed", reason: "paid too much" },
      message: "a pool is not quoted until reloaded",
    },
  ]);
  const reloads = pools.length + 1;
  while ((await valueOf(metrics, "pool_loads_total", `,outcome="loaded"`)) < reloads) {
    await market.snapshot(5042, { maxAgeMs: 0 });
  }
  const again = await market.snapshot(5042, { maxAgeMs: 0 });
  expect(again.pools.map((pool) => pool.address)).toContain(address);
  expect(await valueOf(metrics, "pool_loads_total", `,outcome="failed"`)).toBe(1);
  await market.stop();
});

test("a step that keeps failing is counted each time and logged when it begins to", async () => {
  const { market, metrics, reader, messages } = observed();
  await market.snapshot(5042);
  reader.interfere = () => Promise.reject(new Error("no node answered"));
  for (let run = 0; run < 3; run += 1) {
    const refused = await market.snapshot(5042, { maxAgeMs: 0 }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Error);
  }
  expect(await valueOf(metrics, "failures_total", `,step="refresh"`)).toBeGreaterThanOrEqual(3);
  expect(messages()).toEqual(["the market cannot be kept up to date"]);
  await market.stop();
});

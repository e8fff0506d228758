import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { seededRandom } from "../../src/lib/clock.ts";
import {
  type MarketObserver,
  NodeAnswerError,
  type Snapshot,
  type V3MarketPool,
} from "../../src/market/index.ts";
import { type PreparedChain, startPreparedChain } from "../support/sandbox.ts";
import { freshlyLoaded, localMarket, type LocalMarket, poolsByAddress } from "./localMarket.ts";
import { Trader } from "./trader.ts";

const CHAIN_ID = 5042;
const random = seededRandom(7);

let chain: PreparedChain;
let trader: Trader;
let local: LocalMarket;
let reorgs: number[];
let resets: string[];
let failed: string[];

const observer: MarketObserver = {
  reorg: ({ undoneBlocks }) => reorgs.push(undoneBlocks),
  reset: ({ reason }) => resets.push(reason),
  pool: ({ state, pool, reason }) => state === "failed" && failed.push(`${pool}: ${reason}`),
};

beforeAll(async () => {
  chain = await startPreparedChain();
  trader = await Trader.create(chain, random);
  await trader.createThinPools();
  [reorgs, resets, failed] = [[], [], []];
  // Polls rarely: what is tested happens within the refresh that is asked for.
  local = localMarket(chain, { observer, network: { blockTimeMs: 60_000 } });
});
afterAll(async () => {
  await local.market.stop();
  await chain.stop();
});

/** One refresh. */
const refreshed = () => local.market.snapshot(CHAIN_ID, { maxAgeMs: 0 });

async function trade(snapshot: Snapshot, blocks: number): Promise<void> {
  for (let block = 0; block < blocks; block++) await trader.randomBlock(snapshot.pools);
}

async function expectAsLoaded(snapshot: Snapshot): Promise<void> {
  const fresh = await freshlyLoaded(chain);
  expect(snapshot.blockHash).toBe(fresh.blockHash);
  expect(snapshot.isComplete).toBe(true);
  expect(poolsByAddress(snapshot)).toEqual(poolsByAddress(fresh));
}

describe("state folded from logs", () => {
  test("equals freshly loaded state all along 500 random blocks of swaps, mints and burns", async () => {
    let snapshot = await refreshed();
    const first = snapshot;
    for (let blocks = 0; blocks < 500;) {
      // Blocks come one by one, and in gaps.
      const gap = random() < 0.5 ? 1 : Math.ceil(random() * 20);
      await trade(snapshot, gap);
      blocks += gap;
      snapshot = await refreshed();
      if (blocks % 5 === 0) await expectAsLoaded(snapshot);
    }
    await expectAsLoaded(snapshot);
    expect([reorgs, resets, failed]).toEqual([[], [], []]);
    const [before, after] = [poolsByAddress(first), poolsByAddress(snapshot)];
    expect(before.filter((pool, index) => Bun.deepEquals(pool, after[index]))).toEqual([]);
    const ticks = (pools: typeof before) =>
      pools.flatMap((pool) => (pool.kind === "v3" ? pool.ticks.map(({ index }) => index) : []));
    expect(new Set(ticks(before)).difference(new Set(ticks(after))).size).toBeGreaterThan(0);
    expect(new Set(ticks(after)).difference(new Set(ticks(before))).size).toBeGreaterThan(0);
  }, 60_000);

  test("a snapshot that is held does not change", async () => {
    const held = await refreshed();
    const copy = structuredClone(held.pools);
    await trade(held, 10);
    const later = await refreshed();
    expect(held.pools).toEqual(copy);
    expect(later.blockNumber).toBe(held.blockNumber + 10n);
    expect(later.pools).not.toEqual(copy);
  });
});

describe("replaced blocks are undone within one refresh", () => {
  test("when the chain becomes shorter", async () => {
    const before = await refreshed();
    const id = await chain.rpc.call("evm_snapshot");
    await trade(before, 5);
    await refreshed();
    await trade(before, 5);
    await refreshed();
    reorgs = [];
    await chain.rpc.call("evm_revert", [id]);
    const snapshot = await refreshed();
    expect(reorgs).toEqual([10]);
    expect(snapshot.blockHash).toBe(before.blockHash);
    expect(poolsByAddress(snapshot)).toEqual(poolsByAddress(before));
    await expectAsLoaded(snapshot);
  });

  test.each([0, 3, 10, 17])("when another branch is there, %p blocks long", async (blocks) => {
    const before = await refreshed();
    const id = await chain.rpc.call("evm_snapshot");
    for (let block = 0; block < 10; block++) {
      await trade(before, 1);
      await refreshed();
    }
    reorgs = [];
    await chain.rpc.call("evm_revert", [id]);
    // Other transactions, so that the hashes differ at every height.
    await trade(before, blocks);
    const snapshot = await refreshed();
    expect(reorgs).toEqual([10]);
    expect(resets).toEqual([]);
    await expectAsLoaded(snapshot);
  });

  test("when the node replaces its last blocks by empty ones", async () => {
    const before = await refreshed();
    await trade(before, 3);
    await refreshed();
    await trade(before, 6);
    const traded = await refreshed();
    reorgs = [];
    await chain.rpc.call("anvil_reorg", [6, []]);
    const snapshot = await refreshed();
    expect(reorgs).toEqual([6]);
    expect(snapshot.blockNumber).toBe(traded.blockNumber);
    expect(snapshot.blockHash).not.toBe(traded.blockHash);
    await expectAsLoaded(snapshot);
  });

  test("by loading anew when no known block is left", async () => {
    const id = await chain.rpc.call("evm_snapshot");
    const early = await freshlyLoaded(chain);
    await trade(early, 2);
    const late = localMarket(chain, { observer, network: { blockTimeMs: 60_000 } });
    await late.market.snapshot(CHAIN_ID);
    resets = [];
    await chain.rpc.call("evm_revert", [id]);
    await trade(early, 1);
    const snapshot = await late.market.snapshot(CHAIN_ID, { maxAgeMs: 0 });
    expect(resets).toHaveLength(1);
    await expectAsLoaded(snapshot);
    await late.market.stop();
  });
});

describe("a pool whose state cannot be true", () => {
  test("is not quoted until it was loaded anew", async () => {
    const { pools } = await refreshed();
    const pool = pools.find((each) => each.kind === "v3" && each.tickSpacing === 60)!;
    const isQuoted = ({ poolsOf }: Snapshot) =>
      poolsOf(pool.token0, pool.token1).some(({ address }) => address === pool.address);
    // The log of a mint is lost; the swap after it tells another liquidity than was folded.
    local.reader.interfere = (method) =>
      method === "eth_getLogs" ? Promise.resolve([]) : undefined;
    await trader.mintInRange(pool as V3MarketPool);
    expect(isQuoted(await refreshed())).toBe(true);
    const held = Promise.withResolvers<void>();
    local.reader.interfere = (method) =>
      method === "eth_call"
        ? held.promise.then(() => Promise.reject(new NodeAnswerError()))
        : undefined;
    failed = [];
    await trader.swap(pool as V3MarketPool);
    expect(isQuoted(await refreshed())).toBe(false);
    expect(failed[0]).toStartWith(`${pool.address}: ticks below the price`);

    local.reader.interfere = () => undefined;
    held.resolve();
    await until(async () => isQuoted(await refreshed()));
    await expectAsLoaded(await refreshed());
  });
});

async function until(isMet: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!(await isMet())) {
    if (performance.now() > deadline) throw new Error("waited in vain");
  }
}

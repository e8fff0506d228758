import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { MarketUnavailableError, type MarketObserver } from "../../src/market/index.ts";
import { type PreparedChain, startPreparedChain } from "../support/sandbox.ts";
import { type LocalMarket, localMarket, ManualClock } from "./localMarket.ts";

const CHAIN_ID = 5042;
const HEAD = "eth_getBlockByNumber";

let chain: PreparedChain;
let clock: ManualClock;
let seenHead: number | undefined;
let local: LocalMarket;
let failures: string[];

beforeAll(async () => {
  chain = await startPreparedChain();
});
afterAll(() => chain.stop());
beforeEach(() => {
  failures = [];
  clock = new ManualClock();
  seenHead = undefined;
  local = start();
});
afterEach(async () => {
  local.reader.interfere = () => undefined;
  await local.market.stop();
});

function start(options: Parameters<typeof localMarket>[1] = {}): LocalMarket {
  const observer: MarketObserver = { failure: ({ step }) => failures.push(step) };
  return localMarket(chain, { clock, observer, seenHead: () => seenHead, ...options });
}

const heads = () => local.reader.calls.get(HEAD) ?? 0;
const mine = () => chain.rpc.call("evm_mine");

/** Lets everything happen that needs no time to pass. */
async function until(isMet: () => boolean): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!isMet()) {
    if (performance.now() > deadline) throw new Error("waited in vain");
    await Bun.sleep(1);
  }
}

describe("a snapshot", () => {
  test("of a chain nobody used asks no node before it is asked for", async () => {
    expect(local.reader.total).toBe(0);
    const snapshot = await local.market.snapshot(CHAIN_ID);
    expect(snapshot.isComplete).toBe(true);
    expect(snapshot.pools).toHaveLength(26);
    expect(local.reader.total).toBeGreaterThan(0);
  });

  test("that is young enough is given from memory, without any call", async () => {
    const first = await local.market.snapshot(CHAIN_ID);
    const before = local.reader.total;
    for (let i = 0; i < 100; i++) expect(await local.market.snapshot(CHAIN_ID)).toBe(first);
    expect(local.reader.total).toBe(before);
  });

  test("gives the pools of a pair in either order and any casing", async () => {
    const { poolsOf, pools } = await local.market.snapshot(CHAIN_ID);
    const { token0, token1 } = pools[0]!;
    const found = poolsOf(token1.toLowerCase(), token0);
    expect(found.length).toBeGreaterThan(2);
    expect(poolsOf(token0, token1)).toEqual(found);
    expect(poolsOf(token0, token0)).toEqual([]);
  });

  test("too old is refreshed by one call for all who wait", async () => {
    await local.market.snapshot(CHAIN_ID);
    await mine();
    await local.market.stop();
    local = start({ network: { blockTimeMs: 60_000 } });
    const first = await local.market.snapshot(CHAIN_ID);
    const held = Promise.withResolvers<undefined>();
    await mine();
    // The chain's own three blocks are the longer bound here.
    const before = heads();
    clock.advance(180_001);
    local.reader.interfere = (method, params) =>
      method === HEAD && params[0] === "latest" && heads() === before + 1
        ? held.promise.then(() => chain.rpc.call(method, params))
        : undefined;
    const waiting = Array.from({ length: 50 }, () => local.market.snapshot(CHAIN_ID));
    await until(() => heads() > before);
    held.resolve(undefined);
    const snapshots = await Promise.all(waiting);
    expect(new Set(snapshots).size).toBe(1);
    expect(snapshots[0]!.blockNumber).toBe(first.blockNumber + 1n);
    expect(heads()).toBe(before + 1);
  });

  test("is refused when it is too old and no node answers, and given again once one does", async () => {
    await local.market.snapshot(CHAIN_ID);
    local.reader.interfere = () => Promise.reject(new Error("no node answered"));
    clock.advance(9_000);
    expect((await local.market.snapshot(CHAIN_ID)).isComplete).toBe(true);
    clock.advance(1_001);
    await expect(local.market.snapshot(CHAIN_ID)).rejects.toThrow(MarketUnavailableError);
    await until(() => failures.includes("refresh"));
    local.reader.interfere = () => undefined;
    expect((await local.market.snapshot(CHAIN_ID)).isComplete).toBe(true);
  });

  test("is refused when nodes hang, after a bounded wait", async () => {
    await local.market.snapshot(CHAIN_ID);
    const before = heads();
    local.reader.interfere = () => new Promise(() => {});
    clock.advance(10_001);
    const refused = local.market.snapshot(CHAIN_ID).catch((error: unknown) => error);
    await until(() => heads() > before);
    clock.advance(3_000);
    expect(await refused).toBeInstanceOf(MarketUnavailableError);
  });

  test("of a chain whose first call fails is refused at once", async () => {
    local.reader.interfere = () => Promise.reject(new Error("no node answered"));
    await expect(local.market.snapshot(CHAIN_ID)).rejects.toThrow(MarketUnavailableError);
    await expect(local.market.snapshot(999)).rejects.toThrow(MarketUnavailableError);
  });

  test("does without pools that take too long to load", async () => {
    local.reader.interfere = (method, params) =>
      method === "eth_call" && params.length > 2 ? new Promise(() => {}) : undefined;
    const partial = local.market.snapshot(CHAIN_ID);
    await until(() => (local.market.status()[0]?.waiting ?? 0) > 0);
    clock.advance(2_500);
    expect((await partial).isComplete).toBe(false);
  });
});

describe("the chain's head", () => {
  test("is followed by polls no further apart than its blocks", async () => {
    await local.market.snapshot(CHAIN_ID);
    for (let block = 1; block <= 3; block++) {
      await mine();
      const before = heads();
      clock.advance(500);
      await until(() => heads() > before);
    }
  });

  test("is taken up at once when a quote comes after others have heard of it", async () => {
    const { blockNumber } = await local.market.snapshot(CHAIN_ID);
    await until(() => local.market.status()[0]!.waiting === 0);
    await mine();
    await local.market.snapshot(CHAIN_ID);
    expect(local.market.status()[0]!.blockNumber).toBe(blockNumber);
    seenHead = Number(blockNumber) + 1;
    // From memory all the same: nobody waits.
    expect((await local.market.snapshot(CHAIN_ID)).blockNumber).toBe(blockNumber);
    await until(() => local.market.status()[0]!.blockNumber === blockNumber + 1n);
  });

  test("is not followed while nobody asks, and again once somebody does", async () => {
    await local.market.snapshot(CHAIN_ID);
    clock.advance(300_001);
    await until(() => !local.market.status()[0]!.isFollowing);
    const before = local.reader.total;
    await mine();
    clock.advance(60_000);
    expect(local.reader.total).toBe(before);
    const { pools } = await local.market.snapshot(CHAIN_ID);
    expect(pools).toHaveLength(26);
    expect(local.market.status()[0]!.isFollowing).toBe(true);
  });

  test("that a node behind the others shows does not move the state back", async () => {
    const { blockNumber } = await local.market.snapshot(CHAIN_ID);
    await mine();
    clock.advance(1);
    const present = await local.market.snapshot(CHAIN_ID, { maxAgeMs: 0 });
    // The chain mines by itself too.
    expect(present.blockNumber).toBeGreaterThan(blockNumber);
    local.reader.interfere = (method, params) =>
      method === HEAD && params[0] === "latest"
        ? chain.rpc.call(method, [`0x${(blockNumber - 2n).toString(16)}`, false])
        : undefined;
    clock.advance(1);
    expect(await local.market.snapshot(CHAIN_ID, { maxAgeMs: 0 })).toBe(present);
  });

  test("is not asked for after the stop", async () => {
    await local.market.snapshot(CHAIN_ID);
    await local.market.stop();
    const before = local.reader.total;
    clock.advance(10_000);
    await expect(local.market.snapshot(CHAIN_ID)).rejects.toThrow(MarketUnavailableError);
    expect(local.reader.total).toBe(before);
  });
});

describe("tokens", () => {
  test("asked for by address get their pools with the connectors and with each other", async () => {
    const [usdc, eurc, usdt, weth] = chain.deployment.tokens;
    local = start({
      network: { tokens: [usdc!, eurc!], connectors: ["USDC"], wrappedNative: weth!.address },
    });
    const known = await local.market.snapshot(CHAIN_ID);
    expect(known.poolsOf(usdt!.address, usdc!.address)).toEqual([]);
    const tokens = [usdt!.address, weth!.address] as const;
    const wider = await local.market.snapshot(CHAIN_ID, { tokens });
    expect(wider.poolsOf(usdt!.address, usdc!.address).length).toBeGreaterThan(2);
    expect(wider.poolsOf(...tokens).length).toBeGreaterThan(2);
    expect(wider.poolsOf(usdt!.address, eurc!.address)).toEqual([]);
    const before = local.reader.total;
    await local.market.snapshot(CHAIN_ID, { tokens });
    expect(local.reader.total).toBe(before);
  });

  test("that do not exist cost one look and leave the rest as it is", async () => {
    const { pools } = await local.market.snapshot(CHAIN_ID);
    const tokens = [pools[0]!.token0, `0x${"12".repeat(20)}`] as const;
    expect((await local.market.snapshot(CHAIN_ID, { tokens })).pools).toHaveLength(pools.length);
    const before = local.reader.total;
    await local.market.snapshot(CHAIN_ID, { tokens });
    expect(local.reader.total).toBe(before);
  });
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { seededRandom } from "../../src/lib/clock.ts";
import { NodeAnswerError, type Snapshot, type V3MarketPool } from "../../src/market/index.ts";
import { type PreparedChain, startPreparedChain } from "../support/sandbox.ts";
import {
  type Interference,
  localMarket,
  poolsByAddress,
  type CountingReader,
} from "./localMarket.ts";
import { chainClient, readV3Pool } from "./poolState.ts";
import { Trader } from "./trader.ts";

const CHAIN_ID = 5042;
const POSITIONS = 360;
const MAX_LOAD_MS = 15_000;

let chain: PreparedChain;

beforeAll(async () => {
  chain = await startPreparedChain();
  const trader = await Trader.create(chain, seededRandom(3));
  await trader.createThinPools();
  const { snapshot } = await load();
  // More ticks than fit into 24,576 bytes of code.
  const pool = snapshot.pools.find((each) => each.kind === "v3" && each.tickSpacing === 10)!;
  await trader.fillTicks(pool as V3MarketPool, POSITIONS);
}, 60_000);
afterAll(() => chain.stop());

/** Loads everything through a node that treats calls in its own way. */
async function load(interfere: (reader: CountingReader) => Interference = () => () => undefined) {
  const { market, reader } = localMarket(chain);
  reader.interfere = interfere(reader);
  const untilMs = performance.now() + MAX_LOAD_MS;
  let snapshot = await market.snapshot(CHAIN_ID);
  // A snapshot waits for its pools, but not for as long as a slow machine may need.
  while (!snapshot.isComplete && performance.now() < untilMs) {
    snapshot = await market.snapshot(CHAIN_ID, { maxAgeMs: 0 });
  }
  const [status] = market.status();
  await market.stop();
  return { snapshot, status: status!, reader };
}

const isOverride = (params: readonly unknown[]) => params.length > 2;
const isCreation = (params: readonly unknown[]) => !(params[0] as { readonly to?: string }).to;
const isByHash = (params: readonly unknown[]) => typeof params[1] === "object";
const refuse = () => Promise.reject(new NodeAnswerError("not supported"));

async function expectTheSame(snapshot: Snapshot): Promise<void> {
  const plain = await load();
  expect(snapshot.isComplete).toBe(true);
  expect(snapshot.blockHash).toBe(plain.snapshot.blockHash);
  expect(poolsByAddress(snapshot)).toEqual(poolsByAddress(plain.snapshot));
}

describe("loading a chain's pools", () => {
  test("takes one call for each v3 pool and two for all the rest", async () => {
    const { snapshot, status, reader } = await load();
    const v3 = snapshot.pools.filter(({ kind }) => kind === "v3").length;
    expect(v3).toBeGreaterThanOrEqual(17);
    expect(status.loadForm).toBe("override");
    expect(reader.calls.get("eth_call")).toBeLessThanOrEqual(v3 + 4);
  });

  test("equals what the pools' getters say, word by word", async () => {
    const { snapshot } = await load();
    const client = chainClient(chain.url);
    for (const pool of snapshot.pools) {
      if (pool.kind !== "v3") continue;
      const { multicall3 } = chain.deployment;
      const state = await readV3Pool(client, multicall3, pool.address);
      const ticks = pool.ticks.map(({ index, liquidityNet, sqrtPriceX96 }) => {
        return { index, liquidityNet, sqrtPriceX96 };
      });
      expect({ ...pool, ticks }).toMatchObject(state as never);
      expect(ticks).toHaveLength(state.ticks.length);
    }
  });

  test("goes on with creation code where overrides are refused, in halves where too large", async () => {
    const { snapshot, status } = await load(
      () => (method, params) =>
        method === "eth_call" && isOverride(params) ? refuse() : undefined,
    );
    expect(status.loadForm).toBe("creation");
    const sizes = snapshot.pools.map((pool) => (pool.kind === "v3" ? pool.ticks.length : 0));
    expect(Math.max(...sizes)).toBeGreaterThan(2 * POSITIONS);
    await expectTheSame(snapshot);
  });

  test("goes on with creation code where overrides are ignored", async () => {
    const { snapshot, status } = await load(
      (reader) => (method, params) =>
        method === "eth_call" && isOverride(params)
          ? reader.request(method, params.slice(0, 2), AbortSignal.timeout(5_000))
          : undefined,
    );
    expect(status.loadForm).toBe("creation");
    await expectTheSame(snapshot);
  });

  test("reads word by word where neither works", async () => {
    const { snapshot, status } = await load(
      () => (method, params) =>
        method === "eth_call" && (isOverride(params) || isCreation(params)) ? refuse() : undefined,
    );
    expect(status.loadForm).toBe("getters");
    await expectTheSame(snapshot);
  });

  test("pins by number where hashes are refused", async () => {
    const { snapshot, status } = await load(
      () => (_, params) => (isByHash(params) ? refuse() : undefined),
    );
    expect(status.loadForm).toBe("override");
    await expectTheSame(snapshot);
  });

  test("leaves out a pool the nodes fail on, and says that it did not load", async () => {
    const failed: string[] = [];
    const { market, reader } = localMarket(chain, {
      observer: { pool: ({ pool, state }) => state === "failed" && failed.push(pool) },
    });
    const { snapshot } = await load();
    const victim = snapshot.pools.find(({ kind }) => kind === "v3")!;
    reader.interfere = (method, params) =>
      method === "eth_call" &&
      JSON.stringify(params[0]).includes(victim.address.slice(2).toLowerCase()) &&
      JSON.stringify(params[0]).length < 10_000
        ? Promise.reject(new Error("no node answered"))
        : undefined;
    const partial = await market.snapshot(CHAIN_ID);
    expect(partial.pools.map(({ address }) => address)).not.toContain(victim.address);
    expect(partial.pools).toHaveLength(snapshot.pools.length - 1);
    expect(failed).toContain(victim.address);
    await market.stop();
  });
});

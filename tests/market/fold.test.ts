import { describe, expect, test } from "bun:test";
import type { Address, Hex } from "viem";
import type { V2MarketPool, V3MarketPool } from "../../src/market/index.ts";
import { foldLogs } from "../../src/market/fold.ts";
import { violationOf } from "../../src/market/invariants.ts";
import type { PoolEvent, PoolLog } from "../../src/market/logs.ts";
import { sqrtPriceAtTick } from "../../src/market/tickMath.ts";

const PAIR: Address = `0x${"a".repeat(40)}`;
const POOL: Address = `0x${"b".repeat(40)}`;
const key = { venueId: "venue", token0: PAIR, token1: POOL, feePips: 3_000 };

const pair: V2MarketPool = {
  ...key,
  kind: "v2",
  address: PAIR,
  reserve0: 0n,
  reserve1: 0n,
  hasTraded: false,
};
const pool: V3MarketPool = {
  ...key,
  kind: "v3",
  address: POOL,
  sqrtPriceX96: 0n,
  tick: 0,
  liquidity: 0n,
  tickSpacing: 60,
  ticks: [],
};

/** Folds events, one block each, into the two pools. */
function fold(events: readonly [Address, PoolEvent][], blockNumbers?: readonly number[]) {
  const logs = events.map(([address, event], index): PoolLog => {
    const blockNumber = BigInt(blockNumbers?.[index] ?? index);
    return { address, event, blockNumber, blockHash: "0x" as Hex, logIndex: index };
  });
  const { pools, touched } = foldLogs(
    new Map<string, V2MarketPool | V3MarketPool>([
      [PAIR, pair],
      [POOL, pool],
    ]),
    logs,
  );
  return {
    pair: pools.get(PAIR) as V2MarketPool,
    pool: pools.get(POOL) as V3MarketPool,
    touched: [...touched],
  };
}

const initialize: PoolEvent = { kind: "initialize", sqrtPriceX96: sqrtPriceAtTick(0), tick: 0 };
const position = (tickLower: number, tickUpper: number, liquidityDelta: bigint): PoolEvent => ({
  kind: "position",
  tickLower,
  tickUpper,
  liquidityDelta,
});
const ticksOf = ({ ticks }: V3MarketPool) =>
  ticks.map(({ index, liquidityNet, liquidityGross }) => [index, liquidityNet, liquidityGross]);

const sync = (reserve0: bigint, reserve1: bigint): [Address, PoolEvent] => [
  PAIR,
  { kind: "sync", reserve0, reserve1 },
];

describe("folding logs into a v3 pool", () => {
  test("adds liquidity in range for positions around the price alone", () => {
    const { pool: after } = fold([
      [POOL, initialize],
      [POOL, position(-60, 60, 10n)],
      [POOL, position(60, 120, 5n)],
      [POOL, position(-120, 0, 3n)],
      [POOL, position(0, 60, 2n)],
    ]);
    expect(after.liquidity).toBe(12n);
    expect(ticksOf(after)).toEqual([
      [-120, 3n, 3n],
      [-60, 10n, 10n],
      [0, -1n, 5n],
      [60, -7n, 17n],
      [120, -5n, 5n],
    ]);
    expect(after.ticks.map(({ sqrtPriceX96 }) => sqrtPriceX96)).toEqual(
      [-120, -60, 0, 60, 120].map(sqrtPriceAtTick),
    );
    expect(violationOf(after)).toBeUndefined();
  });

  test("keeps a tick whose net is 0 until its last position is gone", () => {
    const meeting: [Address, PoolEvent][] = [
      [POOL, initialize],
      [POOL, position(-60, 0, 7n)],
      [POOL, position(0, 60, 7n)],
    ];
    expect(ticksOf(fold(meeting).pool)).toContainEqual([0, 0n, 14n]);
    const { pool: after } = fold([
      ...meeting,
      [POOL, position(-60, 0, -7n)],
      [POOL, position(0, 60, -7n)],
    ]);
    expect([after.ticks, after.liquidity]).toEqual([[], 0n]);
  });

  test("takes price, liquidity and tick from a swap as they are", () => {
    const swap = { sqrtPriceX96: sqrtPriceAtTick(60), liquidity: 4n, tick: 59 };
    const { pool: after } = fold([
      [POOL, initialize],
      [POOL, { kind: "swap", ...swap }],
    ]);
    expect(after).toMatchObject(swap);
  });

  test("changes nothing for a burn of nothing, and leaves what it was given alone", () => {
    const { pool: after } = fold([[POOL, position(-60, 60, 0n)]]);
    expect(after).toBe(pool);
  });
});

describe("folding logs into a pair", () => {
  test("takes the reserves and touches nothing else", () => {
    const { pair: after, pool: other, touched } = fold([sync(5n, 6n)]);
    expect(after).toEqual({ ...pair, reserve0: 5n, reserve1: 6n });
    expect(other).toBe(pool);
    expect(touched).toEqual([PAIR]);
  });

  test("notes the first change after the block that filled the pair", () => {
    expect(fold([sync(5n, 6n), sync(6n, 5n)], [1, 1]).pair.hasTraded).toBe(false);
    expect(fold([sync(5n, 6n), sync(6n, 5n)], [1, 2]).pair.hasTraded).toBe(true);
  });
});

describe("what cannot be true on chain", () => {
  const sound = fold([
    [POOL, initialize],
    [POOL, position(-60, 60, 10n)],
  ]).pool;
  const [lower, upper] = sound.ticks;

  test.each([
    ["liquidity that the ticks do not add up to", { liquidity: 9n }],
    ["net liquidity that does not end at 0", { ticks: [lower!] }],
    ["a price above its tick", { sqrtPriceX96: sqrtPriceAtTick(1) + 1n }],
    ["a price below its tick", { sqrtPriceX96: sqrtPriceAtTick(0) - 1n }],
    ["ticks out of order", { ticks: [upper!, lower!] }],
    ["a tick off the spacing", { ticks: [{ ...lower!, index: -61 }, upper!] }],
    ["a tick without positions", { ticks: [{ ...lower!, liquidityGross: 0n }, upper!] }],
    ["more ticks than are held", { ticks: Array.from({ length: 20_001 }, () => lower!) }],
    ["liquidity before there is a price", { sqrtPriceX96: 0n }],
  ])("%s", (_, change) => {
    expect(violationOf(sound)).toBeUndefined();
    expect(violationOf({ ...sound, ...change })).toBeString();
  });

  test("one empty reserve, or one beyond 112 bits", () => {
    expect(violationOf({ ...pair, reserve0: 1n })).toBeString();
    expect(violationOf({ ...pair, reserve0: 1n << 112n, reserve1: 1n })).toBeString();
    expect(violationOf(pair)).toBeUndefined();
  });
});

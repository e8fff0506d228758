import { type Address, getAddress, keccak256, toHex, zeroHash } from "viem";
import type { Random } from "../../../src/lib/clock.ts";
import {
  createSnapshot,
  type MarketPool,
  type Snapshot,
  sortsBefore,
  type V2MarketPool,
  type V3MarketPool,
} from "../../../src/market/index.ts";
import type { Step } from "../../../src/swap/routing/index.ts";
import { sqrtPriceAtTick, tickAtSqrtPrice } from "../../../src/market/tickMath.ts";

/** A made-up address, the same for the same name. */
export function addressOf(name: string): Address {
  return getAddress(`0x${keccak256(toHex(name)).slice(-40)}`);
}

export const tokens = {
  A: addressOf("A"),
  B: addressOf("B"),
  C: addressOf("C"),
  X: addressOf("X"),
  Y: addressOf("Y"),
  W: addressOf("W"),
} as const;

export function logUniform(random: Random, low: number, high: number): number {
  return low * (high / low) ** random();
}

export function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)]!;
}

let serial = 0;

/** Key of a new pool of two tokens. */
function newKey(tokenA: Address, tokenB: Address, feePips: number, venueId: string) {
  const [token0, token1] = sortsBefore(tokenA, tokenB) ? [tokenA, tokenB] : [tokenB, tokenA];
  serial += 1;
  return { venueId, address: addressOf(`pool ${serial}`), token0, token1, feePips };
}

/**
 * A pair.
 * @param price - units of `tokenB` per unit of `tokenA`
 * @param depth - reserve of `tokenA`
 */
export function v2Pool(
  tokenA: Address,
  tokenB: Address,
  price: number,
  depth: number,
  { feePips = 3_000, venueId = "v2" } = {},
): V2MarketPool {
  const key = newKey(tokenA, tokenB, feePips, venueId);
  const [ofA, ofB] = [BigInt(Math.floor(depth)), BigInt(Math.floor(depth * price))];
  const [reserve0, reserve1] = key.token0 === tokenA ? [ofA, ofB] : [ofB, ofA];
  return { ...key, kind: "v2", reserve0, reserve1, hasTraded: true };
}

export const SPACINGS: Readonly<Record<number, number>> = {
  100: 1,
  500: 10,
  3_000: 60,
  10_000: 200,
};

/**
 * A v3 pool with positions around its price, whose depth near the price is about that of a v2 pair
 * with the same reserve.
 */
export function v3Pool(
  random: Random,
  tokenA: Address,
  tokenB: Address,
  price: number,
  depth: number,
  { feePips = pick(random, [100, 500, 3_000, 10_000]), positions = 8, venueId = "v3" } = {},
): V3MarketPool {
  const key = newKey(tokenA, tokenB, feePips, venueId);
  const tickSpacing = SPACINGS[feePips]!;
  const price01 = key.token0 === tokenA ? price : 1 / price;
  const sqrtPriceX96 = BigInt(Math.floor(Math.sqrt(price01) * 2 ** 96));
  const tick = tickAtSqrtPrice(sqrtPriceX96);
  const total = depth * Math.sqrt(price);
  const nets = new Map<number, bigint>();
  let liquidity = 0n;
  for (let index = 0; index < positions; index += 1) {
    const half = logUniform(random, tickSpacing * 2, 20_000);
    const shift = (random() - 0.5) * half * 2.5;
    const lower = Math.floor((tick + shift - half) / tickSpacing) * tickSpacing;
    const upper = Math.ceil((tick + shift + half) / tickSpacing) * tickSpacing;
    const amount = BigInt(Math.floor((total / positions) * logUniform(random, 0.3, 30))) + 1n;
    nets.set(lower, (nets.get(lower) ?? 0n) + amount);
    nets.set(upper, (nets.get(upper) ?? 0n) - amount);
    if (lower <= tick && tick < upper) liquidity += amount;
  }
  const ticks = [...nets]
    .filter(([, net]) => net !== 0n)
    .map(([index, liquidityNet]) => ({
      index,
      liquidityNet,
      liquidityGross: 1n,
      sqrtPriceX96: sqrtPriceAtTick(index),
    }))
    .sort((a, b) => a.index - b.index);
  return { ...key, kind: "v3", sqrtPriceX96, tick, liquidity, tickSpacing, ticks };
}

/**
 * Either kind, with a fee from its usual range and a depth over four orders of magnitude.
 * @param spread - how far apart pools' prices are, as a share of the price
 */
export function anyPool(
  random: Random,
  tokenA: Address,
  tokenB: Address,
  price: number,
  scale: number,
  spread = 0.01,
): MarketPool {
  const depth = logUniform(random, scale / 100, scale * 100);
  const near = price * (1 + (random() - 0.5) * spread);
  const venueId = pick(random, ["v-one", "v-two", "v-three"]);
  if (random() < 0.4) {
    const feePips = pick(random, [500, 2_500, 3_000, 10_000]);
    return v2Pool(tokenA, tokenB, near, depth, { feePips, venueId });
  }
  return v3Pool(random, tokenA, tokenB, near, depth, {
    positions: 1 + Math.floor(random() * 24),
    venueId,
  });
}

export function snapshotOf(pools: readonly MarketPool[]): Snapshot {
  const block = { number: 1n, hash: zeroHash, parentHash: zeroHash, timestampMs: 0 };
  return createSnapshot(1, block, pools);
}

/** Every way of up to three pools that passes no token twice. */
export function everyWay(
  pools: readonly MarketPool[],
  tokenIn: Address,
  tokenOut: Address,
): Step[][] {
  const ways: Step[][] = [];
  const walk = (token: Address, steps: readonly Step[]): void => {
    for (const pool of pools) {
      if (pool.token0 !== token && pool.token1 !== token) continue;
      const next = pool.token0 === token ? pool.token1 : pool.token0;
      if (next === tokenIn || steps.some((step) => step.tokenIn === next)) continue;
      const way = [...steps, { pool, tokenIn: token, tokenOut: next }];
      if (next === tokenOut) ways.push(way);
      else if (way.length < 3) walk(next, way);
    }
  };
  walk(tokenIn, []);
  return ways;
}

/** The pool's sqrt price at a tick as a float, for oracles that share no code with the planner. */
export function floatSqrtPriceAt(tick: number): number {
  return Number(sqrtPriceAtTick(tick)) / 2 ** 96;
}

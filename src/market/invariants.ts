import { MAX_SQRT_PRICE, MAX_TICK, MIN_SQRT_PRICE, MIN_TICK, sqrtPriceAtTick } from "./tickMath.ts";
import type { MarketPool, V2MarketPool, V3MarketPool } from "./pool.ts";
import { MAX_RESERVE } from "./v2.ts";

/** Ticks a pool may have; one with more is not held. */
export const MAX_TICKS = 20_000;

/**
 * What about a pool's state cannot be true on chain. A missed or doubled log shows here.
 * @returns the rule that is broken, or undefined
 */
export function violationOf(pool: MarketPool): string | undefined {
  return pool.kind === "v2" ? pairViolation(pool) : poolViolation(pool);
}

function pairViolation({ reserve0, reserve1 }: V2MarketPool): string | undefined {
  if (reserve0 > MAX_RESERVE || reserve1 > MAX_RESERVE) return "a reserve exceeds 112 bits";
  if (reserve0 < 0n || reserve1 < 0n) return "a reserve is negative";
  if ((reserve0 === 0n) !== (reserve1 === 0n)) return "one reserve alone is empty";
  return undefined;
}

function poolViolation(pool: V3MarketPool): string | undefined {
  const { sqrtPriceX96, tick, ticks, tickSpacing, liquidity } = pool;
  if (sqrtPriceX96 === 0n) {
    return ticks.length > 0 || liquidity > 0n ? "liquidity without a price" : undefined;
  }
  if (ticks.length > MAX_TICKS) return `more than ${MAX_TICKS} ticks`;
  if (!isPriceInTick(sqrtPriceX96, tick)) return "the price is outside its tick";
  let net = 0n;
  let inRange = 0n;
  let previous = Number.NEGATIVE_INFINITY;
  for (const { index, liquidityNet, liquidityGross } of ticks) {
    if (index <= previous || index % tickSpacing !== 0) return `tick ${index} is out of place`;
    if (index < MIN_TICK || index > MAX_TICK) return `tick ${index} is out of range`;
    if (liquidityGross <= 0n) return `tick ${index} holds no position`;
    previous = index;
    net += liquidityNet;
    if (net < 0n) return `liquidity is negative above tick ${index}`;
    if (index <= tick) inRange = net;
  }
  if (net !== 0n) return "net liquidity does not add up to 0";
  if (inRange !== liquidity) return "ticks below the price do not add up to the liquidity";
  return undefined;
}

/** A price on a tick's upper edge is inside too: that is where a downward crossing ends. */
function isPriceInTick(sqrtPriceX96: bigint, tick: number): boolean {
  if (sqrtPriceX96 < MIN_SQRT_PRICE || sqrtPriceX96 >= MAX_SQRT_PRICE) return false;
  if (tick < MIN_TICK - 1 || tick >= MAX_TICK) return false;
  if (tick >= MIN_TICK && sqrtPriceX96 < sqrtPriceAtTick(tick)) return false;
  return sqrtPriceX96 <= sqrtPriceAtTick(tick + 1);
}

import type { Ratio } from "./ratio.ts";
import { swapStep } from "./swapStep.ts";
import {
  MAX_SQRT_PRICE,
  MAX_TICK,
  MIN_SQRT_PRICE,
  MIN_TICK,
  sqrtPriceAtTick,
  tickAtSqrtPrice,
} from "./tickMath.ts";

/** v3-core takes the input as int256. */
const MAX_AMOUNT_IN = (1n << 255n) - 1n;
const DEFAULT_MAX_STEPS = 2_000;

/** An initialised tick: how much liquidity is added when the price crosses it upwards. */
export interface V3Tick {
  readonly index: number;
  readonly liquidityNet: bigint;
}

/** Everything of a v3 pool that decides a swap's amounts, at one block. */
export interface V3Pool {
  readonly sqrtPriceX96: bigint;
  /** `slot0.tick`. State of its own: after a downward crossing it is one below the price's tick. */
  readonly tick: number;
  /** Liquidity in range. */
  readonly liquidity: bigint;
  readonly feePips: number;
  readonly tickSpacing: number;
  /** Initialised ticks, ascending. */
  readonly ticks: readonly V3Tick[];
}

/** What an exact-input swap does to a pool. */
export interface V3Swap {
  /** Input the pool takes, fee included; below what was offered when the swap is partial. */
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  readonly sqrtPriceX96: bigint;
  readonly tick: number;
  readonly liquidity: bigint;
  readonly ticksCrossed: number;
  /** Bitmap words walked without meeting an initialised tick; each costs gas on chain. */
  readonly emptyWords: number;
  /** `complete`: all input traded. `liquidity`: the price limit was hit. `steps`: the bound was. */
  readonly end: "complete" | "liquidity" | "steps";
}

/**
 * Swaps an exact input, bit for bit as UniswapV3Pool.swap without a price limit.
 *
 * The walk stops at every bitmap word boundary like the contract does, because each stop rounds.
 *
 * @param amountIn - above 0 and below 2^255
 * @param zeroForOne - true when token0 is sold
 * @param maxSteps - most ranges to walk before giving up with `end: "steps"`
 */
export function v3SwapExactIn(
  pool: V3Pool,
  zeroForOne: boolean,
  amountIn: bigint,
  maxSteps = DEFAULT_MAX_STEPS,
): V3Swap {
  if (amountIn <= 0n || amountIn > MAX_AMOUNT_IN) throw new RangeError(`amountIn ${amountIn}`);
  const limit = zeroForOne ? MIN_SQRT_PRICE + 1n : MAX_SQRT_PRICE - 1n;
  const feePips = BigInt(pool.feePips);
  let { sqrtPriceX96, tick, liquidity } = pool;
  let remaining = amountIn;
  let amountOut = 0n;
  let ticksCrossed = 0;
  let emptyWords = 0;
  let steps = 0;
  // The nearest initialised tick in the swap's direction.
  let position = lastAtOrBelow(pool.ticks, tick) + (zeroForOne ? 0 : 1);

  while (remaining > 0n && sqrtPriceX96 !== limit && steps < maxSteps) {
    steps += 1;
    const { nextTick, initialised } = nextStop(pool, tick, position, zeroForOne);
    const nextPrice = sqrtPriceAtTick(nextTick);
    const target = beyond(nextPrice, limit, zeroForOne) ? limit : nextPrice;

    const step = swapStep(sqrtPriceX96, target, liquidity, remaining, feePips);
    remaining -= step.amountIn + step.fee;
    amountOut += step.amountOut;
    const isAtStop = step.sqrtPriceX96 === nextPrice;
    if (isAtStop && initialised) {
      liquidity += zeroForOne ? -initialised.liquidityNet : initialised.liquidityNet;
      position += zeroForOne ? -1 : 1;
      ticksCrossed += 1;
    } else if (isAtStop) {
      emptyWords += 1;
    }
    if (isAtStop) tick = zeroForOne ? nextTick - 1 : nextTick;
    else if (step.sqrtPriceX96 !== sqrtPriceX96) tick = tickAtSqrtPrice(step.sqrtPriceX96);
    sqrtPriceX96 = step.sqrtPriceX96;
  }

  return {
    amountIn: amountIn - remaining,
    amountOut,
    sqrtPriceX96,
    tick,
    liquidity,
    ticksCrossed,
    emptyWords,
    end: remaining === 0n ? "complete" : sqrtPriceX96 === limit ? "liquidity" : "steps",
  };
}

/**
 * Whether a swap that ended at this price ran into the price limit, so that input may be left
 * over: the on-chain quoter reports such swaps as if they were full.
 */
export function isAtPriceLimit(sqrtPriceX96: bigint, zeroForOne: boolean): boolean {
  return sqrtPriceX96 === (zeroForOne ? MIN_SQRT_PRICE + 1n : MAX_SQRT_PRICE - 1n);
}

/** Price of an infinitely small trade without fee: output per input, atomic units. */
export function v3SpotPrice(sqrtPriceX96: bigint, zeroForOne: boolean): Ratio {
  const price = { numerator: sqrtPriceX96 * sqrtPriceX96, denominator: 1n << 192n };
  return zeroForOne ? price : { numerator: price.denominator, denominator: price.numerator };
}

/** Position of the last tick at or below `tick`; -1 when there is none. Binary search. */
function lastAtOrBelow(ticks: readonly V3Tick[], tick: number): number {
  let low = 0;
  let high = ticks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const candidate = ticks[middle];
    if (candidate !== undefined && candidate.index <= tick) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Where the next step ends at the latest: an initialised tick, or the end of the bitmap word. */
function nextStop(
  pool: V3Pool,
  tick: number,
  position: number,
  zeroForOne: boolean,
): { nextTick: number; initialised: V3Tick | undefined } {
  const candidate = pool.ticks[position];
  const boundary = wordBoundary(tick, pool.tickSpacing, zeroForOne);
  if (!candidate || (zeroForOne ? candidate.index < boundary : candidate.index > boundary)) {
    return { nextTick: boundary, initialised: undefined };
  }
  return { nextTick: candidate.index, initialised: candidate };
}

/**
 * The last tick of the 256-tick bitmap word the contract looks into next: the word of `tick`
 * itself on the way down, of the tick after it on the way up; never beyond the tick range.
 */
function wordBoundary(tick: number, tickSpacing: number, zeroForOne: boolean): number {
  const compressed = Math.floor(tick / tickSpacing);
  return zeroForOne
    ? Math.max((compressed >> 8) * 256 * tickSpacing, MIN_TICK)
    : Math.min((((compressed + 1) >> 8) * 256 + 255) * tickSpacing, MAX_TICK);
}

function beyond(price: bigint, limit: bigint, zeroForOne: boolean): boolean {
  return zeroForOne ? price < limit : price > limit;
}

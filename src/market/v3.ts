import type { Ratio } from "./ratio.ts";
import { stepThrough, stepWithin, type SwapRange } from "./swapStep.ts";
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
/** All word boundaries of the four Uniswap spacings are about 7,800. */
const MAX_BOUNDARY_PRICES = 10_000;
/** Stops remembered per pool state and direction; a trade that walks further computes the rest. */
const MAX_REMEMBERED_STOPS = 128;
const boundaryPrices = new Map<number, bigint>();

/** An initialised tick: how much liquidity is added when the price crosses it upwards. */
export interface V3Tick {
  readonly index: number;
  readonly liquidityNet: bigint;
  /** The sqrt price at the tick, so that a swap need not compute it. */
  readonly sqrtPriceX96: bigint;
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
 * What it takes to a stop does not depend on the input, so the stops are remembered per pool state:
 * a swap begins at the last one its input reaches, and ends before the first that takes more.
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
  const stops = stopsOf(pool, zeroForOne);
  let steps = Math.min(lastReached(stops, amountIn), maxSteps);
  let at = stops[steps] ?? startOf(pool, zeroForOne);

  while (at.amountIn < amountIn && at.sqrtPriceX96 !== limit && steps < maxSteps) {
    let next = stops[steps + 1];
    if (!next) {
      next = walk(pool, at, zeroForOne, limit);
      if (stops.length === steps + 1 && stops.length < MAX_REMEMBERED_STOPS) stops.push(next);
    }
    // A step is made in full just when what is left covers its input and fee.
    at = next.amountIn <= amountIn ? next : stopShort(pool, at, amountIn, zeroForOne);
    steps += 1;
  }

  const isComplete = at.amountIn === amountIn;
  return {
    amountIn: at.amountIn,
    amountOut: at.amountOut,
    sqrtPriceX96: at.sqrtPriceX96,
    tick: at.tick,
    liquidity: at.liquidity,
    ticksCrossed: at.ticksCrossed,
    emptyWords: at.emptyWords,
    end: isComplete ? "complete" : at.sqrtPriceX96 === limit ? "liquidity" : "steps",
  };
}

/** Where a walk over a pool's ranges stands. */
interface Standing extends Omit<V3Swap, "end"> {
  /** The nearest initialised tick in the swap's direction. */
  readonly position: number;
}

/** Per pool state, which is never changed, and direction: the start and the first stops after it. */
const remembered = new WeakMap<
  V3Pool,
  [down: Standing[] | undefined, up: Standing[] | undefined]
>();

function stopsOf(pool: V3Pool, zeroForOne: boolean): Standing[] {
  let directions = remembered.get(pool);
  if (!directions) remembered.set(pool, (directions = [undefined, undefined]));
  return (directions[zeroForOne ? 0 : 1] ??= [startOf(pool, zeroForOne)]);
}

function startOf(pool: V3Pool, zeroForOne: boolean): Standing {
  const { sqrtPriceX96, tick, liquidity } = pool;
  return {
    amountIn: 0n,
    amountOut: 0n,
    sqrtPriceX96,
    tick,
    liquidity,
    ticksCrossed: 0,
    emptyWords: 0,
    position: lastAtOrBelow(pool.ticks, tick) + (zeroForOne ? 0 : 1),
  };
}

/**
 * The last stop an input walks to: the first that takes all of it, or else the last that leaves
 * some of it. A step is made in full just when what is left covers its input and fee.
 */
function lastReached(stops: readonly Standing[], amountIn: bigint): number {
  let low = 0;
  let high = stops.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((stops[middle]?.amountIn ?? amountIn) < amountIn) low = middle + 1;
    else high = middle;
  }
  return stops[low]?.amountIn === amountIn ? low : low - 1;
}

/** One step in full: to the next stop, or to the price limit. */
function walk(pool: V3Pool, at: Standing, zeroForOne: boolean, limit: bigint): Standing {
  const { nextTick, nextPrice, initialised } = nextStop(pool, at, zeroForOne);
  const isLimited = beyond(nextPrice, limit, zeroForOne);
  const sqrtPriceX96 = isLimited ? limit : nextPrice;
  const step = stepThrough(rangeAt(pool, at, zeroForOne), sqrtPriceX96);
  const amountIn = at.amountIn + step.amountIn;
  const amountOut = at.amountOut + step.amountOut;
  if (isLimited) return { ...at, amountIn, amountOut, sqrtPriceX96, tick: tickAtSqrtPrice(limit) };
  const passed = { amountIn, amountOut, sqrtPriceX96, tick: zeroForOne ? nextTick - 1 : nextTick };
  if (!initialised) return { ...at, ...passed, emptyWords: at.emptyWords + 1 };
  const { liquidityNet } = initialised;
  return {
    ...at,
    ...passed,
    liquidity: at.liquidity + (zeroForOne ? -liquidityNet : liquidityNet),
    position: at.position + (zeroForOne ? -1 : 1),
    ticksCrossed: at.ticksCrossed + 1,
  };
}

/** The last step of an input that ends before the next stop. */
function stopShort(pool: V3Pool, at: Standing, amountIn: bigint, zeroForOne: boolean): Standing {
  const step = stepWithin(rangeAt(pool, at, zeroForOne), amountIn - at.amountIn);
  const { sqrtPriceX96 } = step;
  // A price that did not move may stand at a tick that was crossed downwards.
  const tick = sqrtPriceX96 === at.sqrtPriceX96 ? at.tick : tickAtSqrtPrice(sqrtPriceX96);
  const { liquidity, ticksCrossed, emptyWords, position } = at;
  const amountOut = at.amountOut + step.amountOut;
  return { amountIn, amountOut, sqrtPriceX96, tick, liquidity, ticksCrossed, emptyWords, position };
}

function rangeAt(pool: V3Pool, at: Standing, zeroForOne: boolean): SwapRange {
  const { sqrtPriceX96, liquidity } = at;
  return { sqrtPriceX96, liquidity, feePips: BigInt(pool.feePips), zeroForOne };
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
export function lastAtOrBelow(ticks: readonly V3Tick[], tick: number): number {
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
  { tick, position }: Standing,
  zeroForOne: boolean,
): { nextTick: number; nextPrice: bigint; initialised: V3Tick | undefined } {
  const candidate = pool.ticks[position];
  const boundary = wordBoundary(tick, pool.tickSpacing, zeroForOne);
  if (!candidate || (zeroForOne ? candidate.index < boundary : candidate.index > boundary)) {
    return { nextTick: boundary, nextPrice: boundaryPrice(boundary), initialised: undefined };
  }
  return { nextTick: candidate.index, nextPrice: candidate.sqrtPriceX96, initialised: candidate };
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

/** `sqrtPriceAtTick`, remembered: swaps meet the same few boundaries over and over. */
function boundaryPrice(tick: number): bigint {
  const known = boundaryPrices.get(tick);
  if (known !== undefined) return known;
  const price = sqrtPriceAtTick(tick);
  if (boundaryPrices.size >= MAX_BOUNDARY_PRICES) boundaryPrices.clear();
  boundaryPrices.set(tick, price);
  return price;
}

function beyond(price: bigint, limit: bigint, zeroForOne: boolean): boolean {
  return zeroForOne ? price < limit : price > limit;
}

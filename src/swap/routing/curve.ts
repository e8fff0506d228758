import {
  type MarketPool,
  type V2MarketPool,
  v2PairOf,
  v2SpotPrice,
  type V3MarketPool,
  v3SpotPrice,
} from "../../market/index.ts";
import { lastAtOrBelow } from "../../market/v3.ts";
import { MAX_SQRT_PRICE, MIN_SQRT_PRICE } from "../../market/tickMath.ts";

const Q96 = 2 ** 96;
const PIPS = 1e6;
/** UniswapV2Pair keeps reserves as uint112. */
const MAX_RESERVE = 2 ** 112;
/**
 * A pool that may run dry is offered this much less than it holds, so that neither the rounding of
 * floats nor that of the contract turns its last unit into a partial fill.
 */
const DRY_MARGIN = 1e-9;

/**
 * A pool in one trade direction, as ranges that are linear in `u = 1 / sqrt(p)`, where `p` is the
 * marginal output per input after the fee. In the range from `starts[i]` to `ends[i]`
 *
 *     input(u)  = inputs[i]  + slopes[i] · (u − starts[i])
 *     output(u) = outputs[i] + slopes[i] · (1 / starts[i] − 1 / u)
 *
 * which holds for a v2 pair (one range without end) and for every liquidity range of a v3 pool
 * alike (derived from x · y = L², Uniswap v3 whitepaper §6.2). Floats: good for allocating, never
 * for quoting.
 */
export interface PoolCurve {
  readonly pool: MarketPool;
  readonly zeroForOne: boolean;
  /** Price of an infinitely small trade without fee: output per input, atomic units. */
  readonly spot: number;
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  readonly slopes: Float64Array;
  /** Input and output before each range begins. */
  readonly inputs: Float64Array;
  readonly outputs: Float64Array;
  /** Initialised ticks crossed before each range begins. */
  readonly crossed: Int32Array;
  /** Number of ranges. */
  readonly count: number;
  /** Input that uses the pool up; Infinity where nothing does. */
  readonly capacity: number;
  /** Output of the whole capacity. */
  readonly payout: number;
}

/** Curves live as long as the pool state they were made of, which is never changed. */
const curves = new WeakMap<MarketPool, [PoolCurve | undefined, PoolCurve | undefined]>();

/** The curve of a pool state, made once per state and direction. */
export function curveOf(pool: MarketPool, zeroForOne: boolean): PoolCurve {
  let pair = curves.get(pool);
  if (!pair) curves.set(pool, (pair = [undefined, undefined]));
  return (pair[zeroForOne ? 0 : 1] ??= toCurve(pool, zeroForOne));
}

function toCurve(pool: MarketPool, zeroForOne: boolean): PoolCurve {
  const ranges = new RangeList();
  const kept = 1 - pool.feePips / PIPS;
  if (pool.kind === "v2") addPair(ranges, pool, zeroForOne, kept);
  else addLiquidityRanges(ranges, pool, zeroForOne, kept);
  return ranges.toCurve(pool, zeroForOne);
}

function spotOf(pool: MarketPool, zeroForOne: boolean): number {
  const { numerator, denominator } =
    pool.kind === "v2"
      ? v2SpotPrice(v2PairOf(pool, zeroForOne))
      : v3SpotPrice(pool.sqrtPriceX96, zeroForOne);
  return Number(numerator) / Number(denominator);
}

function addPair(ranges: RangeList, pool: V2MarketPool, zeroForOne: boolean, kept: number): void {
  const [reserveIn, reserveOut] = zeroForOne
    ? [Number(pool.reserve0), Number(pool.reserve1)]
    : [Number(pool.reserve1), Number(pool.reserve0)];
  const slope = Math.sqrt((reserveIn * reserveOut) / kept);
  const start = Math.sqrt(reserveIn / (reserveOut * kept));
  const room = (MAX_RESERVE - reserveIn) * (1 - DRY_MARGIN);
  ranges.add(start, start + room / slope, slope, 0);
}

function addLiquidityRanges(
  ranges: RangeList,
  pool: V3MarketPool,
  zeroForOne: boolean,
  kept: number,
): void {
  const rootKept = Math.sqrt(kept);
  const { ticks } = pool;
  const step = zeroForOne ? -1 : 1;
  let position = lastAtOrBelow(ticks, pool.tick) + (zeroForOne ? 0 : 1);
  let liquidity = pool.liquidity;
  const endOfPrices = zeroForOne ? MIN_SQRT_PRICE : MAX_SQRT_PRICE;
  let from = toU(pool.sqrtPriceX96);
  for (let crossed = 0; ; crossed += 1) {
    const tick = ticks[position];
    const to = toU(tick?.sqrtPriceX96 ?? endOfPrices);
    if (liquidity > 0n) ranges.add(from, to, Number(liquidity) / rootKept, crossed);
    if (!tick) break;
    liquidity += zeroForOne ? -tick.liquidityNet : tick.liquidityNet;
    from = Math.max(from, to);
    position += step;
  }
  ranges.leaveMargin();

  function toU(sqrtPriceX96: bigint): number {
    const sqrtPrice = Number(sqrtPriceX96) / Q96;
    return (zeroForOne ? 1 / sqrtPrice : sqrtPrice) / rootKept;
  }
}

/** Collects ranges in the order a trade meets them. */
class RangeList {
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  readonly #slopes: number[] = [];
  readonly #crossed: number[] = [];

  add(start: number, end: number, slope: number, crossed: number): void {
    if (!(end > start) || !(slope > 0)) return;
    this.#starts.push(start);
    this.#ends.push(end);
    this.#slopes.push(slope);
    this.#crossed.push(crossed);
  }

  /** Shortens the last range, see {@link DRY_MARGIN}. */
  leaveMargin(): void {
    const last = this.#starts.length - 1;
    const [start, end] = [this.#starts[last], this.#ends[last]];
    if (start !== undefined && end !== undefined) {
      this.#ends[last] = end - (end - start) * DRY_MARGIN;
    }
  }

  toCurve(pool: MarketPool, zeroForOne: boolean): PoolCurve {
    const count = this.#starts.length;
    const inputs = new Float64Array(count);
    const outputs = new Float64Array(count);
    let [input, output] = [0, 0];
    for (const [index, start] of this.#starts.entries()) {
      inputs[index] = input;
      outputs[index] = output;
      const end = this.#ends[index] ?? start;
      const slope = this.#slopes[index] ?? 0;
      input += slope * (end - start);
      output += slope * (1 / start - 1 / end);
    }
    return {
      pool,
      zeroForOne,
      spot: spotOf(pool, zeroForOne),
      starts: Float64Array.from(this.#starts),
      ends: Float64Array.from(this.#ends),
      slopes: Float64Array.from(this.#slopes),
      crossed: Int32Array.from(this.#crossed),
      inputs,
      outputs,
      count,
      capacity: input,
      payout: output,
    };
  }
}

/** Where pools stand once their marginal prices have fallen to `1 / u²`, each at its index. */
export interface CurvePoints {
  readonly inputs: Float64Array;
  readonly outputs: Float64Array;
  /** Input per `u` from here on; 0 where nothing trades at this price. */
  readonly slopes: Float64Array;
}

/** Points of so many pools that have traded nothing. */
export function startPoints(count: number): CurvePoints {
  return {
    inputs: new Float64Array(count),
    outputs: new Float64Array(count),
    slopes: new Float64Array(count),
  };
}

/** Enters what a pool has traded once it stands at `u` into points that are all 0. */
export function enterPoint(points: CurvePoints, at: number, curve: PoolCurve, u: number): void {
  const { starts, ends, slopes, inputs, outputs } = curve;
  const first = starts[0] ?? Infinity;
  if (!(u >= first)) return;
  const index = rangeHolding(starts, curve.count, u);
  const start = starts[index] ?? first;
  const end = ends[index] ?? start;
  const slope = slopes[index] ?? 0;
  const reached = Math.min(u, end);
  points.inputs[at] = (inputs[index] ?? 0) + slope * (reached - start);
  points.outputs[at] = (outputs[index] ?? 0) + (slope * (reached - start)) / (start * reached);
  points.slopes[at] = u < end ? slope : 0;
}

/** Output for an input, from the pool's start; NaN beyond its capacity. */
export function outputFor(curve: PoolCurve, input: number): number {
  if (!(input <= curve.capacity)) return Number.NaN;
  const index = rangeHolding(curve.inputs, curve.count, input);
  const start = curve.starts[index] ?? 0;
  const slope = curve.slopes[index] ?? 0;
  const advance = (input - (curve.inputs[index] ?? 0)) / slope;
  return (curve.outputs[index] ?? 0) + (slope * advance) / (start * (start + advance));
}

/** Initialised ticks an input crosses. */
export function ticksCrossedBy(curve: PoolCurve, input: number): number {
  return curve.crossed[rangeHolding(curve.inputs, curve.count, input)] ?? 0;
}

/** The last range that begins at or before an amount, or a `u`. Binary search. */
function rangeHolding(begins: Float64Array, count: number, amount: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((begins[middle] ?? Infinity) <= amount) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

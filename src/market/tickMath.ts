import { MAX_UINT256, squareRoot } from "./integers.ts";

/** Prices of a v3 pool lie between 1.0001^MIN_TICK and 1.0001^MAX_TICK. */
export const MIN_TICK = -887_272;
export const MAX_TICK = 887_272;

const Q32 = 1n << 32n;
/** The logarithm of 1.0001, without the error that 1.0001 itself has as a float. */
const LOG_BASE = Math.log1p(1e-4);
/**
 * Part of a tick within which an estimate proves nothing. Floats are wrong by some 1e-9 ticks; a
 * price of the lowest ticks, rounded up to an integer, stands up to 5e-6 ticks above its own.
 */
const SURE = 1e-3;
const POWERS = inversePowers();

/** Smallest and largest sqrt price a v3 pool can have, Q64.96. */
export const MIN_SQRT_PRICE = sqrtPriceAtTick(MIN_TICK);
export const MAX_SQRT_PRICE = sqrtPriceAtTick(MAX_TICK);

/**
 * `sqrt(1.0001^tick)` as Q64.96, bit for bit what v3-core's TickMath gives: the product over the
 * set bits of |tick| of the factors below, each step cut to 128 fractional bits, inverted for
 * ticks above 0, then rounded up from 128 to 96 fractional bits.
 * @param tick - integer from MIN_TICK to MAX_TICK
 */
export function sqrtPriceAtTick(tick: number): bigint {
  const distance = Math.abs(tick);
  if (!Number.isInteger(tick) || distance > MAX_TICK) throw new RangeError(`tick ${tick}`);
  let ratio = 1n << 128n;
  for (const [bit, power] of POWERS.entries()) {
    if (distance & (1 << bit)) ratio = (ratio * power) >> 128n;
  }
  if (tick > 0) ratio = MAX_UINT256 / ratio;
  return (ratio + Q32 - 1n) >> 32n;
}

/**
 * The greatest tick whose sqrt price is not above the given one (v3-core's getTickAtSqrtRatio):
 * a float estimate, corrected with exact prices where it is too near a tick to be sure.
 * @param sqrtPriceX96 - Q64.96, at least MIN_SQRT_PRICE and below MAX_SQRT_PRICE
 */
export function tickAtSqrtPrice(sqrtPriceX96: bigint): number {
  if (sqrtPriceX96 < MIN_SQRT_PRICE || sqrtPriceX96 >= MAX_SQRT_PRICE) {
    throw new RangeError(`sqrt price ${sqrtPriceX96}`);
  }
  const estimate = (2 * Math.log(Number(sqrtPriceX96) / 2 ** 96)) / LOG_BASE;
  const floor = Math.floor(estimate);
  const beyondTick = estimate - floor;
  if (beyondTick > SURE && beyondTick < 1 - SURE) return floor;
  let tick = Math.min(MAX_TICK - 1, Math.max(MIN_TICK, floor));
  while (sqrtPriceAtTick(tick) > sqrtPriceX96) tick -= 1;
  while (sqrtPriceAtTick(tick + 1) <= sqrtPriceX96) tick += 1;
  return tick;
}

/**
 * `1.0001^(-2^bit / 2)` in Q128, rounded to nearest, for the 20 bits of a tick. v3-core carries
 * these as literals; here they are computed once with 512 fractional bits.
 */
function inversePowers(): readonly bigint[] {
  const precision = 512n;
  const shift = precision - 128n;
  let power = squareRoot((10_000n << (2n * precision)) / 10_001n);
  return Array.from({ length: 20 }, () => {
    const rounded = (power + (1n << (shift - 1n))) >> shift;
    power = (power * power) >> precision;
    return rounded;
  });
}

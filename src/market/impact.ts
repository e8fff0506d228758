import { multiply, type Ratio, toNumber } from "./ratio.ts";

/** Fees of AMM pools are counted in pips: millionths of the input. */
export const PIPS = 1_000_000n;

/** What is kept after a pool's fee, as a share of 1. */
export function afterFeePips(feePips: number): Ratio {
  return { numerator: PIPS - BigInt(feePips), denominator: PIPS };
}

/**
 * The curve's part of the loss in percent: `100 · (1 − out / (in · spot · kept))`, where `spot` is
 * the price of an infinitely small trade without fees and `kept` the share left after fees.
 * With `fee = 1 − kept`, `(1 − impact)(1 − fee)` is exactly `out / (in · spot)`; what integer
 * rounding takes from very small amounts counts as impact.
 *
 * @param spot - output per input at the start, atomic units on both sides
 * @param kept - product of `1 − fee` over the hops
 * @returns percent from 0 to 100
 */
export function priceImpactPercent(
  amountIn: bigint,
  amountOut: bigint,
  spot: Ratio,
  kept: Ratio,
): number {
  const ideal = multiply(multiply({ numerator: amountIn, denominator: 1n }, spot), kept);
  const missing = ideal.numerator - amountOut * ideal.denominator;
  if (missing <= 0n) return 0;
  return 100 * toNumber({ numerator: missing, denominator: ideal.numerator });
}

/** A kept share of 1 as a fee in basis points, rounded to 1e-6 bps: `10_000 · (1 − kept)`. */
export function toFeeBps(kept: number): number {
  return Math.round((1 - kept) * 1e10) / 1e6;
}

import type { Ratio } from "./ratio.ts";

/** A pair balance never exceeds this (UniswapV2Pair keeps reserves as uint112). */
export const MAX_RESERVE = (1n << 112n) - 1n;

/** A constant-product pair seen in one direction, at one block. */
export interface V2Pair {
  readonly reserveIn: bigint;
  readonly reserveOut: bigint;
  /** The share of the input that trades: 997/1000 at Uniswap. */
  readonly kept: Ratio;
}

/**
 * Output of an exact input, rounded down (UniswapV2Library.getAmountOut).
 * @returns undefined when the pair is empty, the output would be 0, or its balance would overflow
 */
export function v2AmountOut(pair: V2Pair, amountIn: bigint): bigint | undefined {
  const { reserveIn, reserveOut, kept } = pair;
  if (amountIn <= 0n || reserveIn === 0n || reserveOut === 0n) return undefined;
  if (reserveIn + amountIn > MAX_RESERVE) return undefined;
  const traded = amountIn * kept.numerator;
  const amountOut = (traded * reserveOut) / (reserveIn * kept.denominator + traded);
  return amountOut > 0n ? amountOut : undefined;
}

/**
 * Smallest input that yields at least `amountOut` (UniswapV2Library.getAmountIn).
 * @returns undefined when the pair cannot pay that much
 */
export function v2AmountIn(pair: V2Pair, amountOut: bigint): bigint | undefined {
  const { reserveIn, reserveOut, kept } = pair;
  if (amountOut <= 0n || reserveIn === 0n || amountOut >= reserveOut) return undefined;
  const numerator = reserveIn * amountOut * kept.denominator;
  const amountIn = numerator / ((reserveOut - amountOut) * kept.numerator) + 1n;
  return reserveIn + amountIn > MAX_RESERVE ? undefined : amountIn;
}

/** Price of an infinitely small trade without fee: output per input, atomic units. */
export function v2SpotPrice(pair: V2Pair): Ratio {
  return { numerator: pair.reserveOut, denominator: pair.reserveIn };
}

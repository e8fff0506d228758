import { divideUp } from "./integers.ts";
import { PIPS } from "./impact.ts";
import {
  amount0Between,
  amount1Between,
  sqrtPriceAfterToken0In,
  sqrtPriceAfterToken1In,
} from "./sqrtPriceMath.ts";

/** A range of constant liquidity a v3 swap passes through. */
export interface SwapRange {
  readonly sqrtPriceX96: bigint;
  readonly liquidity: bigint;
  readonly feePips: bigint;
  /** True when token0 is sold, and the price falls. */
  readonly zeroForOne: boolean;
}

/**
 * A step through a whole range (v3-core's SwapMath.computeSwapStep for exact input that reaches its
 * target): input rounds up, output down.
 * @param target - sqrt price the range ends at; not above the current one when token0 is sold
 * @returns what it takes, fee included, and what it pays
 */
export function stepThrough(
  { sqrtPriceX96, liquidity, feePips, zeroForOne }: SwapRange,
  target: bigint,
): { readonly amountIn: bigint; readonly amountOut: bigint } {
  const traded = zeroForOne
    ? amount0Between(target, sqrtPriceX96, liquidity, true)
    : amount1Between(sqrtPriceX96, target, liquidity, true);
  const fee = divideUp(traded * feePips, PIPS - feePips);
  const amountOut = outputBetween(sqrtPriceX96, target, liquidity, zeroForOne);
  return { amountIn: traded + fee, amountOut };
}

/**
 * A step that uses up an input before the range ends (the same for exact input that stops short of
 * its target): what does not trade is fee, so that it takes all of the input.
 * @param amountIn - fee included; less than the whole range takes
 */
export function stepWithin(
  { sqrtPriceX96, liquidity, feePips, zeroForOne }: SwapRange,
  amountIn: bigint,
): { readonly sqrtPriceX96: bigint; readonly amountOut: bigint } {
  const tradable = (amountIn * (PIPS - feePips)) / PIPS;
  const next = zeroForOne
    ? sqrtPriceAfterToken0In(sqrtPriceX96, liquidity, tradable)
    : sqrtPriceAfterToken1In(sqrtPriceX96, liquidity, tradable);
  return {
    sqrtPriceX96: next,
    amountOut: outputBetween(sqrtPriceX96, next, liquidity, zeroForOne),
  };
}

function outputBetween(from: bigint, to: bigint, liquidity: bigint, zeroForOne: boolean): bigint {
  return zeroForOne
    ? amount1Between(to, from, liquidity, false)
    : amount0Between(from, to, liquidity, false);
}

import { divideUp } from "./integers.ts";
import { PIPS } from "./impact.ts";
import {
  amount0Between,
  amount1Between,
  sqrtPriceAfterToken0In,
  sqrtPriceAfterToken1In,
} from "./sqrtPriceMath.ts";

/** What one step of a v3 swap did, within one range of constant liquidity. */
export interface SwapStep {
  readonly sqrtPriceX96: bigint;
  /** Input that traded, without the fee. */
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  readonly fee: bigint;
}

/**
 * Swaps as much of the remaining input as fits before the target price (v3-core's
 * SwapMath.computeSwapStep for exact input): input rounds up, output down, and a step that stops
 * short of its target gives everything it did not trade to the fee.
 *
 * @param target - sqrt price to stop at; below the current one when token0 is sold
 * @param remaining - input left, fee included
 */
export function swapStep(
  sqrtPriceX96: bigint,
  target: bigint,
  liquidity: bigint,
  remaining: bigint,
  feePips: bigint,
): SwapStep {
  const zeroForOne = target <= sqrtPriceX96;
  const tradable = (remaining * (PIPS - feePips)) / PIPS;
  const toTarget = inputBetween(sqrtPriceX96, target, liquidity, zeroForOne);
  const next = tradable >= toTarget ? target : priceAfterInput();
  const amountIn =
    next === target ? toTarget : inputBetween(sqrtPriceX96, next, liquidity, zeroForOne);
  return {
    sqrtPriceX96: next,
    amountIn,
    amountOut: zeroForOne
      ? amount1Between(next, sqrtPriceX96, liquidity, false)
      : amount0Between(sqrtPriceX96, next, liquidity, false),
    fee: next === target ? divideUp(amountIn * feePips, PIPS - feePips) : remaining - amountIn,
  };

  function priceAfterInput(): bigint {
    return zeroForOne
      ? sqrtPriceAfterToken0In(sqrtPriceX96, liquidity, tradable)
      : sqrtPriceAfterToken1In(sqrtPriceX96, liquidity, tradable);
  }
}

function inputBetween(from: bigint, to: bigint, liquidity: bigint, zeroForOne: boolean): bigint {
  return zeroForOne
    ? amount0Between(to, from, liquidity, true)
    : amount1Between(from, to, liquidity, true);
}

import { divideUp, MAX_UINT256 } from "./integers.ts";

const BELOW_Q96 = (1n << 96n) - 1n;

/**
 * Amount of token0 between two sqrt prices: `L · (upper − lower) / (upper · lower)`, with the two
 * divisions rounded one after the other as v3-core's SqrtPriceMath does.
 */
export function amount0Between(
  lower: bigint,
  upper: bigint,
  liquidity: bigint,
  roundUp: boolean,
): bigint {
  const numerator = (liquidity << 96n) * (upper - lower);
  return roundUp ? divideUp(divideUp(numerator, upper), lower) : numerator / upper / lower;
}

/** Amount of token1 between two sqrt prices: `L · (upper − lower)`. */
export function amount1Between(
  lower: bigint,
  upper: bigint,
  liquidity: bigint,
  roundUp: boolean,
): bigint {
  const product = liquidity * (upper - lower);
  return (roundUp ? product + BELOW_Q96 : product) >> 96n;
}

/**
 * The sqrt price after `amount` of token0 was added, rounded up.
 *
 * On chain the precise form `L·P / (L + amount·P)` is used only while its denominator fits 256
 * bits; beyond that a form with other rounding takes over. Bigints never overflow, so the switch
 * is written out.
 */
export function sqrtPriceAfterToken0In(
  sqrtPriceX96: bigint,
  liquidity: bigint,
  amount: bigint,
): bigint {
  const liquidityX96 = liquidity << 96n;
  const product = amount * sqrtPriceX96;
  const denominator = liquidityX96 + product;
  if (product <= MAX_UINT256 && denominator <= MAX_UINT256) {
    return divideUp(liquidityX96 * sqrtPriceX96, denominator);
  }
  return divideUp(liquidityX96, liquidityX96 / sqrtPriceX96 + amount);
}

/** The sqrt price after `amount` of token1 was added, rounded down. */
export function sqrtPriceAfterToken1In(
  sqrtPriceX96: bigint,
  liquidity: bigint,
  amount: bigint,
): bigint {
  return sqrtPriceX96 + (amount << 96n) / liquidity;
}

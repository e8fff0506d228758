/** Slippage is kept to a hundredth of a basis point. */
const UNITS_PER_BPS = 100;
const WHOLE = BigInt(10_000 * UNITS_PER_BPS);

/**
 * The least output a slippage tolerance allows: `amountOut · (10000 − slippage) / 10000`, rounded
 * down, but never 0, which the executor would refuse.
 * @param slippageBps - 0 to 10,000; fractions count down to 0.01 bps
 */
export function minimumOut(amountOut: bigint, slippageBps: number): bigint {
  const kept = WHOLE - BigInt(Math.round(slippageBps * UNITS_PER_BPS));
  const minOut = (amountOut * kept) / WHOLE;
  return minOut > 0n ? minOut : 1n;
}

/** How far `actual` lies below `wanted`, in basis points of `wanted`, with two decimals. */
export function shortfallBps(wanted: bigint, actual: bigint): string {
  const hundredths = ((wanted - actual) * WHOLE) / wanted;
  return (Number(hundredths) / UNITS_PER_BPS).toFixed(2);
}

/**
 * The platform fee on an output, rounded down as the executor rounds it.
 * @param feeBps - basis points of the output
 */
export function platformFee(amountOut: bigint, feeBps: number): bigint {
  return (amountOut * BigInt(feeBps)) / 10_000n;
}

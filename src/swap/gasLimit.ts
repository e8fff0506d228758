/**
 * Head room of a gas limit over its estimate: by the time a swap is mined, other trades may have
 * moved the price so that it crosses more ticks. Unused gas is not paid for.
 */
const MARGIN_PERCENT = 25n;
/** An estimate with its margin, as the answer's decimal string. */
export function toGasLimit(estimatedGas: bigint): string {
  return ((estimatedGas * (100n + MARGIN_PERCENT)) / 100n).toString();
}

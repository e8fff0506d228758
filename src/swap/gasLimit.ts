/**
 * Head room of a gas limit over its estimate: by the time a swap is mined, other trades may have
 * moved the price so that it crosses more ticks. Unused gas is not paid for.
 */
const MARGIN_PERCENT = 25n;

/**
 * An estimate with its margin, as the answer's decimal string.
 * @param unseenGas - what the estimate cannot show, see `unseenGas` of the gas model
 */
export function toGasLimit(estimatedGas: bigint, unseenGas = 0n): string {
  return ((estimatedGas * (100n + MARGIN_PERCENT)) / 100n + unseenGas).toString();
}

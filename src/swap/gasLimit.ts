/**
 * Head room of a gas limit over its estimate: by the time a swap is mined, other trades may have
 * moved the price so that it crosses more ticks. Unused gas is not paid for.
 */
const MARGIN_PERCENT = 25n;
/** What no simulation measured: tokens with costs of their own, an output the wallet never held. */
const UNSIMULATED_MARGIN_PERCENT = 100n;

/** An estimate with its margin, as the answer's decimal string. */
export function toGasLimit(estimatedGas: bigint): string {
  return withMargin(estimatedGas, MARGIN_PERCENT);
}

/** A modelled estimate, which no simulation confirmed, with its wider margin. */
export function toUnsimulatedGasLimit(modelledGas: bigint): string {
  return withMargin(modelledGas, UNSIMULATED_MARGIN_PERCENT);
}

function withMargin(gas: bigint, percent: bigint): string {
  return ((gas * (100n + percent)) / 100n).toString();
}

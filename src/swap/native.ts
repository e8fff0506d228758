import type { Address } from "viem";

/** Stands for a chain's native asset in requests, quotes and the executor's orders. */
export const NATIVE: Address = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE";

/** Wrapping, less what a transfer from the wallet costs more than one of the executor's own. */
const WRAP_GAS = 650n;
/** Unwrapping, and sending the value. Both measured on prepared chains against the same routes. */
const UNWRAP_GAS = 15_200n;

/** Gas of wrapping and unwrapping, on top of a route's between the ERC-20 tokens. */
export function nativeGas(pair: { readonly inputToken: Address; readonly outputToken: Address }) {
  if (pair.inputToken === NATIVE) return WRAP_GAS;
  return pair.outputToken === NATIVE ? UNWRAP_GAS : 0n;
}

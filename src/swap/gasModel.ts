/**
 * Gas of one executor transaction with a single hop, the 21,000 of the transaction included:
 * measured on prepared chains with plain ERC-20 tokens and a wallet that already holds the output.
 */
const V2_SWAP_GAS = 105_500n;
/** A pair's first swap writes its two price accumulators from zero. */
const V2_FIRST_SWAP_GAS = 34_000n;
/** What the executor needs around `pool.swap`: the transaction, the payment and the checks. */
const V3_OVERHEAD_GAS = 36_000n;

/**
 * Estimated gas of a swap through one v2 pair.
 * @param hasTraded - false when the pair never traded
 */
export function v2SwapGas(hasTraded: boolean): bigint {
  return hasTraded ? V2_SWAP_GAS : V2_SWAP_GAS + V2_FIRST_SWAP_GAS;
}

/**
 * Estimated gas of a swap through one v3 pool.
 * @param poolGas - gas of `pool.swap` as QuoterV2 measured it, with every tick crossed
 */
export function v3SwapGas(poolGas: bigint): bigint {
  return V3_OVERHEAD_GAS + poolGas;
}

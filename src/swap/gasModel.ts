/**
 * Gas of the executor's transactions, the 21,000 of a transaction included: least squares over 800
 * routes of one to 16 pools executed on prepared chains, with plain ERC-20 tokens and a wallet that
 * already holds the output. 90 % of the estimates are from 5 % below to 5 % above what was used.
 */
const TRANSACTION_GAS = 46_800;
/** By who pays the pool. */
const V2_HOP_GAS = { caller: 62_100, pool: 59_600, executor: 59_200 } as const;
const V3_HOP_GAS = { caller: 66_100, executor: 63_500 } as const;
/** A token that waits in the executor for its turn: two balances, a transfer more. */
const HELD_TOKEN_GAS = 8_800;
/** From 25,000 to 62,000: the first crossing of a tick writes what later ones only change. */
const TICK_GAS = 35_800;
const EMPTY_WORD_GAS = 8_100;
/** A pair's first swap writes its two price accumulators from zero. */
const V2_FIRST_SWAP_GAS = 34_000;
/**
 * What pools write with the first trade of a block only (EIP-2929, EIP-2200): the two price
 * accumulators of a pair, from zero or not, and a v3 pool's observation.
 */
const FIRST_OF_BLOCK_GAS = { v2New: 2n * 22_100n, v2: 2n * 5_000n, v3: 5_000n } as const;
/** What the executor needs around `pool.swap`: the transaction, the payment and the checks. */
const V3_OVERHEAD_GAS = 39_000n;

/** What a pool does in a hop. */
interface PoolWork {
  readonly pool: { readonly kind: "v2"; readonly hasTraded: boolean } | { readonly kind: "v3" };
  readonly ticksCrossed: number;
  readonly emptyWords: number;
}

/** What of a hop decides its gas. */
export interface HopWork extends PoolWork {
  readonly tokenIn: string;
  readonly tokenOut: string;
}

/** Estimated gas of the executor's transaction for hops in the order of execution. */
export function routeGas(hops: readonly HopWork[]): bigint {
  const source = hops[0]?.tokenIn;
  let gas = TRANSACTION_GAS;
  hops.forEach((hop, index) => {
    const isHeld = hop.tokenIn !== source && !isPaidStraight(hops, index);
    gas += workGas(hop, hop.tokenIn === source ? "caller" : isHeld ? "executor" : "pool");
    if (isHeld && hop.tokenIn !== hops[index - 1]?.tokenIn) gas += HELD_TOKEN_GAS;
  });
  return BigInt(gas);
}

/**
 * Whether the pool before pays straight into a hop's pair, as SwapExecutor decides it: that pool
 * alone bought the token, and the pair alone sells it.
 */
function isPaidStraight(hops: readonly HopWork[], index: number): boolean {
  const token = hops[index]?.tokenIn;
  return (
    hops[index]?.pool.kind === "v2" &&
    hops[index - 1]?.tokenOut === token &&
    hops[index + 1]?.tokenIn !== token &&
    !hops.slice(0, index - 1).some(({ tokenOut }) => tokenOut === token)
  );
}

/** Gas of the transaction for a chain of pools with one more at its end. */
export function gasWithHop(gasBefore: number, hop: PoolWork, isFirst: boolean): number {
  if (isFirst) return TRANSACTION_GAS + workGas(hop, "caller");
  return hop.pool.kind === "v2"
    ? gasBefore + workGas(hop, "pool")
    : gasBefore + workGas(hop, "executor") + HELD_TOKEN_GAS;
}

/**
 * Gas that a simulation does not show: it runs in the newest block, and where that has traded in a
 * pool, the pool's writes of the block were done before.
 */
export function unseenGas(pools: readonly HopWork["pool"][]): bigint {
  return pools.reduce((sum, pool) => {
    const isNew = pool.kind === "v2" && !pool.hasTraded;
    return sum + FIRST_OF_BLOCK_GAS[isNew ? "v2New" : pool.kind];
  }, 0n);
}

/** Who pays a pool: the caller's wallet, the executor or, only for pairs, the pool before it. */
type Payer = "caller" | "pool" | "executor";

function workGas({ pool, ticksCrossed, emptyWords }: PoolWork, payer: Payer): number {
  return hopGas(pool, payer) + TICK_GAS * ticksCrossed + EMPTY_WORD_GAS * emptyWords;
}

function hopGas(pool: HopWork["pool"], payer: Payer): number {
  if (pool.kind === "v3") return V3_HOP_GAS[payer === "caller" ? "caller" : "executor"];
  return V2_HOP_GAS[payer] + (pool.hasTraded ? 0 : V2_FIRST_SWAP_GAS);
}

/**
 * Estimated gas of a swap through one v3 pool whose own part was measured.
 * @param poolGas - gas of `pool.swap` as QuoterV2 measured it, with every tick crossed
 */
export function v3SwapGas(poolGas: bigint): bigint {
  return V3_OVERHEAD_GAS + poolGas;
}

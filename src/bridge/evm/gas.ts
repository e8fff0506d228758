import type { PublicClient } from "viem";

/** EIP-1559 fees in wei per gas. */
export interface GasFees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** For a node that has no opinion on it, 1 gwei. */
const DEFAULT_TIP = 1_000_000_000n;
/** Nodes refuse a replacement that pays less than an eighth more (geth's price bump is 10 %). */
const BUMP_NUMERATOR = 9n;
const BUMP_DENOMINATOR = 8n;
/** A replacement never offers more than this multiple of what the network asks for now. */
const MAX_MULTIPLE = 10n;

/** Fees that hold while the base fee doubles. */
export async function currentFees(client: PublicClient): Promise<GasFees> {
  const [block, maxPriorityFeePerGas] = await Promise.all([
    client.getBlock({ blockTag: "latest" }),
    client.estimateMaxPriorityFeePerGas().catch(() => DEFAULT_TIP),
  ]);
  const baseFee = block.baseFeePerGas ?? 0n;
  return { maxFeePerGas: 2n * baseFee + maxPriorityFeePerGas, maxPriorityFeePerGas };
}

/**
 * Fees of a replacement: an eighth above the old on both fields, and at least what is asked now.
 * @returns undefined when that is beyond reason
 */
export function replacementFees(old: GasFees, current: GasFees): GasFees | undefined {
  const tip = larger(bump(old.maxPriorityFeePerGas), current.maxPriorityFeePerGas);
  const max = larger(larger(bump(old.maxFeePerGas), current.maxFeePerGas), tip);
  if (max > current.maxFeePerGas * MAX_MULTIPLE) return undefined;
  return { maxFeePerGas: max, maxPriorityFeePerGas: tip };
}

function bump(fee: bigint): bigint {
  return (fee * BUMP_NUMERATOR) / BUMP_DENOMINATOR + 1n;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

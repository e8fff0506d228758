import { createPublicClient, type PublicClient, TransactionReceiptNotFoundError } from "viem";
import type { Hex, TransactionReceipt } from "viem";
import type { UpstreamPool } from "../../upstream/index.ts";

/** A viem client of a chain through the pool; block numbers are read anew each time. */
export function chainClient(upstream: Pick<UpstreamPool, "transport">, chainId: number) {
  return createPublicClient({ transport: upstream.transport(chainId), cacheTime: 0 });
}

/** A transaction's receipt; undefined while it is in no block. */
export async function receiptOf(
  client: PublicClient,
  hash: Hex,
): Promise<TransactionReceipt | undefined> {
  try {
    return await client.getTransactionReceipt({ hash });
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) return undefined;
    throw error;
  }
}

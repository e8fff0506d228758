import type { Address, PublicClient } from "viem";

/** How far back a used nonce is looked for, in blocks: what most nodes keep state of. */
const MAX_DEPTH_BLOCKS = 65_536n;

/**
 * The hash of the transaction that used an account's nonce, found by halving the blocks on the
 * account's transaction count. It is the only proof that a nonce was used by somebody else.
 * @returns undefined when it cannot be told, because the node keeps too little state
 */
export async function spenderOf(
  client: PublicClient,
  address: Address,
  nonce: number,
): Promise<string | undefined> {
  const head = await client.getBlockNumber();
  const countAt = (blockNumber: bigint) => client.getTransactionCount({ address, blockNumber });
  let low = head > MAX_DEPTH_BLOCKS ? head - MAX_DEPTH_BLOCKS : 0n;
  let high = head;
  try {
    if ((await countAt(high)) <= nonce) return undefined;
    // Doubling from the head first: the block is most often a recent one.
    for (let depth = 1n; depth < head - low; depth *= 2n) {
      if ((await countAt(head - depth)) <= nonce) {
        low = head - depth;
        break;
      }
      high = head - depth;
    }
    while (high - low > 1n) {
      const middle = (low + high) / 2n;
      if ((await countAt(middle)) > nonce) high = middle;
      else low = middle;
    }
    const block = await client.getBlock({ blockNumber: high, includeTransactions: true });
    const sender = address.toLowerCase();
    return block.transactions.find((tx) => tx.from.toLowerCase() === sender && tx.nonce === nonce)
      ?.hash;
  } catch {
    return undefined;
  }
}

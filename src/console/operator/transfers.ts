import type { ChainRegistry } from "../../chains/index.ts";
import type { StoredTransaction, StoredTransfer, TransferEventEntry } from "../../db/index.ts";
import { formatDecimalAmount } from "../../lib/amounts.ts";
import type { TransferDetailView, TransferView } from "../views.ts";

const USDC_DECIMALS = 6;

/** What the console needs of the bridge. */
export interface TransferAdmin {
  list(page: { state?: string; limit: number }): Promise<readonly StoredTransfer[]>;
  counts(): Promise<Readonly<Record<string, number>>>;
  /** @throws ApiError `TRANSFER_NOT_FOUND` */
  show(id: string): Promise<{
    readonly transfer: StoredTransfer;
    readonly transactions: readonly StoredTransaction[];
    readonly events: readonly TransferEventEntry[];
  }>;
  /** @throws ApiError `TRANSFER_NOT_FOUND`, `TRANSFER_IS_FINAL` */
  resume(id: string): Promise<string>;
}

/** A transfer as it is shown, without what its signatures and messages are made of. */
export function transferView(registry: ChainRegistry, transfer: StoredTransfer): TransferView {
  const { amount, maxFee, feeExecuted, fromChainId, toChainId } = transfer;
  return {
    id: transfer.id,
    keyId: transfer.keyId,
    state: transfer.state,
    fromChainId,
    toChainId,
    from: nameOf(registry, fromChainId),
    to: nameOf(registry, toChainId),
    amount: formatDecimalAmount(amount, USDC_DECIMALS),
    maxFee: formatDecimalAmount(maxFee, USDC_DECIMALS),
    feeExecuted: feeExecuted === null ? null : formatDecimalAmount(feeExecuted, USDC_DECIMALS),
    recipient: transfer.recipient,
    sender: transfer.sender,
    transactionHash: transfer.transactionHash,
    mintHash: transfer.mintHash,
    delayReason: transfer.delayReason,
    attention: transfer.attention,
    checks: transfer.checks,
    nextCheckAt: transfer.nextCheckAt,
    createdAt: transfer.createdAt,
    updatedAt: transfer.updatedAt,
  };
}

/** A transfer with its transactions and its history. */
export async function transferDetailView(
  registry: ChainRegistry,
  admin: TransferAdmin,
  id: string,
): Promise<TransferDetailView> {
  const { transfer, transactions, events } = await admin.show(id);
  return {
    ...transferView(registry, transfer),
    transactions: transactions.map(({ hash, purpose, chainId, nonce, createdAt }) => ({
      hash,
      purpose,
      chain: nameOf(registry, chainId),
      nonce,
      createdAt,
    })),
    events: events.map(({ at, event, fromState, toState, detail }) => ({
      at,
      event,
      fromState,
      toState,
      detail,
    })),
  };
}

function nameOf(registry: ChainRegistry, chainId: number): string {
  return registry.byId(chainId)?.name ?? String(chainId);
}

import { BaseError, type Hex, keccak256, parseTransaction, type PublicClient } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import type { BridgeStore, StoredTransaction } from "../../db/index.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Purpose, Settlement, Transfer } from "../network.ts";
import { receiptOf } from "./client.ts";
import { currentFees, type GasFees, replacementFees } from "./gas.ts";
import { spenderOf } from "./nonceUse.ts";

/** A call to be signed as a transaction. */
export interface Call {
  readonly purpose: Purpose;
  readonly to: Hex;
  readonly data: Hex;
  readonly gas: bigint;
}

export interface SenderDependencies {
  readonly chainId: number;
  readonly account: PrivateKeyAccount;
  readonly client: PublicClient;
  readonly store: BridgeStore;
  readonly clock: Clock;
  /** A transaction that is in no block for this long is replaced. */
  readonly replaceAfterMs: number;
  /** Told that nonces are given out and not yet signed for. */
  readonly onReserved: (transferId: string, purposes: readonly Purpose[]) => void;
}

/** Signs and sends for one account on one chain. */
export interface EvmSender {
  /** Gives each call a nonce, once per transfer and purpose, and signs it. */
  sign(transferId: string, calls: readonly Call[]): Promise<readonly StoredTransaction[]>;
  broadcast(transaction: StoredTransaction): Promise<void>;
  settle(transfer: Transfer, purpose: Purpose): Promise<Settlement>;
}

/** The sender of one account on one chain; nonces come from the ledger, never from the mempool. */
export function createEvmSender(deps: SenderDependencies): EvmSender {
  const { chainId, account, client, store, clock } = deps;
  const signer = account.address.toLowerCase();

  async function signOne(
    { purpose, to, data, gas }: Call,
    transferId: string,
    nonce: number,
    fees: GasFees,
  ): Promise<StoredTransaction> {
    const raw = await account.signTransaction({
      type: "eip1559",
      chainId,
      nonce,
      to,
      data,
      gas,
      value: 0n,
      ...fees,
    });
    const createdAt = clock.now();
    const identity = { hash: keccak256(raw), transferId, chainId, signer, purpose, nonce };
    return { ...identity, raw, ...fees, validUntilHeight: null, createdAt };
  }

  async function broadcast(transaction: StoredTransaction): Promise<void> {
    await client.request({
      method: "eth_sendRawTransaction",
      params: [transaction.raw as Hex],
    });
  }

  async function replace(old: StoredTransaction): Promise<StoredTransaction> {
    const { maxFeePerGas, maxPriorityFeePerGas } = old;
    if (maxFeePerGas === null || maxPriorityFeePerGas === null || old.nonce === null) return old;
    const current = await currentFees(client);
    const fees = replacementFees({ maxFeePerGas, maxPriorityFeePerGas }, current);
    if (!fees) return old;
    const call = callOf(old.raw as Hex, old.purpose as Purpose);
    const replacement = await signOne(call, old.transferId, old.nonce, fees);
    const transfer = await store.find(old.transferId);
    await store.addTransaction(replacement, {
      transferId: old.transferId,
      at: replacement.createdAt,
      fromState: transfer?.state ?? null,
      toState: transfer?.state ?? "",
      event: "replaced",
      detail: { purpose: old.purpose, nonce: old.nonce, old: old.hash, hash: replacement.hash },
    });
    return replacement;
  }

  /** What became of a nonce that none of our transactions in a block used. */
  async function whenUnseen(newest: StoredTransaction, hashes: ReadonlySet<string>) {
    if (newest.signer !== signer) {
      await broadcast(newest).catch(() => undefined);
      return waiting("signed by a wallet that is no longer the operator's");
    }
    const used = await client.getTransactionCount({ address: account.address });
    if (newest.nonce !== null && used > newest.nonce) {
      const user = await spenderOf(client, account.address, newest.nonce);
      // One node may be behind the other: only the transaction itself proves whose it is.
      if (user === undefined || hashes.has(user))
        return waiting("nonce used, receipt not seen yet");
      return { kind: "lost", hash: newest.hash } as const;
    }
    const isStuck = clock.now() - newest.createdAt > deps.replaceAfterMs;
    try {
      await broadcast(isStuck ? await replace(newest) : newest);
    } catch (error) {
      return waiting(`not accepted by the network: ${shortMessage(error)}`);
    }
    return { kind: "waiting" } as const;
  }

  return {
    broadcast,
    async sign(transferId, calls) {
      const [floor, fees] = await Promise.all([
        client.getTransactionCount({ address: account.address }),
        currentFees(client),
      ]);
      const purposes = calls.map(({ purpose }) => purpose);
      const request = { chainId, signer, transferId, purposes, floor };
      const nonces = await store.reserveNonces(request);
      deps.onReserved(transferId, purposes);
      return Promise.all(
        calls.map((call, index) => signOne(call, transferId, nonces[index] ?? -1, fees)),
      );
    },
    async settle(transfer, purpose) {
      const all = await store.transactions(transfer.id);
      const sent = all.filter((each) => each.purpose === purpose && each.chainId === chainId);
      const newest = sent.at(-1);
      if (!newest) return { kind: "lost", hash: undefined };
      for (const { hash } of sent.filter(({ nonce }) => nonce === newest.nonce).toReversed()) {
        const receipt = await receiptOf(client, hash as Hex);
        if (receipt) return { kind: receipt.status === "success" ? "done" : "reverted", hash };
      }
      return whenUnseen(newest, new Set(sent.map(({ hash }) => hash)));
    },
  };
}

function waiting(attention: string): Settlement {
  return { kind: "waiting", attention };
}

/** viem's one-line reason of a failure, without URLs. */
function shortMessage(error: unknown): string {
  const text = error instanceof BaseError ? error.details || error.shortMessage : String(error);
  return text.slice(0, 200);
}

function callOf(raw: Hex, purpose: Purpose): Call {
  const { to, data, gas } = parseTransaction(raw);
  if (!to || gas === undefined) throw new Error("a stored transaction has no recipient");
  return { purpose, to, data: data ?? "0x", gas };
}

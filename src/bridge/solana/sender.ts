import {
  type AddressesByLookupTableAddress,
  appendTransactionMessageInstructions,
  type Blockhash,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  getTransactionSize,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from "@solana/kit";
import type { BridgeStore, StoredTransaction } from "../../db/index.ts";
import type { Clock } from "../../lib/clock.ts";
import { member } from "../../lib/exactJson.ts";
import type { Purpose, Settlement, Transfer } from "../network.ts";
import { type SolanaCall, SolanaRpcError } from "./rpc.ts";

export interface SolanaSenderDependencies {
  readonly chainId: number;
  readonly call: SolanaCall;
  readonly store: BridgeStore;
  readonly clock: Clock;
}

/** Finalized blocks beyond a blockhash's last before its transaction is taken to be impossible. */
const EXPIRY_MARGIN_BLOCKS = 150;

/** What fits into one packet. */
const MAX_TRANSACTION_BYTES = 1_232;

/** Signs and sends for one wallet of one cluster. */
export interface SolanaSender {
  sign(
    transferId: string,
    purpose: Purpose,
    payer: KeyPairSigner,
    instructions: readonly Instruction[],
    tables?: AddressesByLookupTableAddress,
  ): Promise<StoredTransaction>;
  /**
   * Runs instructions without effect.
   * @returns why the cluster refuses them, with what the programs said; undefined: it would not
   */
  simulate(
    payer: KeyPairSigner,
    instructions: readonly Instruction[],
    tables?: AddressesByLookupTableAddress,
  ): Promise<string | undefined>;
  broadcast(transaction: StoredTransaction): Promise<void>;
  settle(transfer: Transfer, purpose: Purpose): Promise<Settlement>;
}

/**
 * The sender of a cluster. A signature stands for one attempt: it is sent again and again until its
 * blockhash has expired for good, and only then may another be signed.
 */
export function createSolanaSender(deps: SolanaSenderDependencies): SolanaSender {
  const { chainId, call, store, clock } = deps;

  async function broadcast({ raw }: StoredTransaction): Promise<void> {
    try {
      await call("sendTransaction", [
        raw,
        { encoding: "base64", preflightCommitment: "confirmed" },
      ]);
    } catch (error) {
      const isKnown =
        error instanceof SolanaRpcError &&
        /already.?been processed|AlreadyProcessed/i.test(error.message);
      if (!isKnown) throw error;
    }
  }

  /** What the cluster knows of the attempts, the newest first; undefined: nothing. */
  async function look(hashes: readonly string[]): Promise<Settlement | undefined> {
    const options = { searchTransactionHistory: true };
    const statuses = member(await call("getSignatureStatuses", [hashes, options]), "value");
    for (const [index, hash] of [...hashes.entries()].toReversed()) {
      const status = member(statuses, index);
      if (typeof status !== "object" || status === null) continue;
      if (member(status, "confirmationStatus") === "processed") return { kind: "waiting" };
      const failed = member(status, "err") !== null && member(status, "err") !== undefined;
      // Only the newest attempt can have failed for good, or it would not be the newest.
      if (failed && hash === hashes.at(-1)) return { kind: "reverted", hash };
      if (!failed) return { kind: "done", hash };
    }
    return undefined;
  }

  /** What to do about attempts no node knows. */
  async function whenUnseen(newest: StoredTransaction, hashes: readonly string[]) {
    const height = Number(await call("getBlockHeight", [{ commitment: "finalized" }]));
    const { validUntilHeight } = newest;
    if (validUntilHeight !== null && height > validUntilHeight + EXPIRY_MARGIN_BLOCKS) {
      // Looked for again, since it may have landed between the two questions.
      return (await look(hashes)) ?? ({ kind: "lost", hash: newest.hash } as const);
    }
    try {
      await broadcast(newest);
    } catch (error) {
      const reason = error instanceof Error ? error.message.slice(0, 200) : "failed";
      return { kind: "waiting", attention: `not accepted by the cluster: ${reason}` } as const;
    }
    return { kind: "waiting" } as const;
  }

  /** Builds and signs under the newest blockhash. */
  async function build(
    payer: KeyPairSigner,
    instructions: readonly Instruction[],
    tables: AddressesByLookupTableAddress,
  ) {
    const latest = await call("getLatestBlockhash", [{ commitment: "confirmed" }]);
    const blockhash = String(member(latest, "value", "blockhash")) as Blockhash;
    const validUntilHeight = Number(member(latest, "value", "lastValidBlockHeight"));
    const lifetime = { blockhash, lastValidBlockHeight: BigInt(validUntilHeight) };
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (draft) => setTransactionMessageFeePayerSigner(payer, draft),
      (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
      (draft) => appendTransactionMessageInstructions(instructions, draft),
      (draft) => compressTransactionMessageUsingAddressLookupTables(draft, tables),
    );
    const transaction = await signTransactionMessageWithSigners(message);
    return { transaction, validUntilHeight };
  }

  return {
    broadcast,
    async simulate(payer, instructions, tables = {}) {
      const { transaction } = await build(payer, instructions, tables);
      const size = getTransactionSize(transaction);
      if (size > MAX_TRANSACTION_BYTES) return `a transaction of ${size} bytes is too large`;
      const wire = getBase64EncodedWireTransaction(transaction);
      const options = { encoding: "base64", commitment: "confirmed", sigVerify: true };
      const result = member(await call("simulateTransaction", [wire, options]), "value");
      const error = member(result, "err");
      if (error === null || error === undefined) return undefined;
      const logs = member(result, "logs");
      return [JSON.stringify(error), ...(Array.isArray(logs) ? logs : [])].join("\n");
    },
    async sign(transferId, purpose, payer, instructions, tables = {}) {
      const { transaction, validUntilHeight } = await build(payer, instructions, tables);
      return {
        hash: getSignatureFromTransaction(transaction),
        transferId,
        chainId,
        signer: payer.address,
        purpose,
        nonce: null,
        raw: getBase64EncodedWireTransaction(transaction),
        maxFeePerGas: null,
        maxPriorityFeePerGas: null,
        validUntilHeight,
        createdAt: clock.now(),
      };
    },
    async settle(transfer, purpose) {
      const all = await store.transactions(transfer.id);
      const sent = all.filter((each) => each.purpose === purpose && each.chainId === chainId);
      const newest = sent.at(-1);
      if (!newest) return { kind: "lost", hash: undefined };
      const hashes = sent.map(({ hash }) => hash);
      return (await look(hashes)) ?? whenUnseen(newest, hashes);
    },
  };
}

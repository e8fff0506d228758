import {
  getBase58Decoder,
  getBase58Encoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  isSolanaError,
  SOLANA_ERROR__TRANSACTION__MESSAGE_SIGNATURES_MISMATCH,
  type Signature,
  type Transaction,
} from "@solana/kit";
import type { LegacyCompiledTransactionMessage, V0CompiledTransactionMessage } from "@solana/kit";
import { invalidParams, RpcError, rpcCodes } from "./errors.ts";

/** A message of a version the ledger runs, taken apart. */
export type CompiledMessage = (LegacyCompiledTransactionMessage | V0CompiledTransactionMessage) & {
  readonly lifetimeToken: string;
};

/** What fits into one packet, and so into a transaction. */
const MAX_TRANSACTION_BYTES = 1_232;

/**
 * Reads a transaction as it comes in a call.
 * @param encoding - base58, the default, or base64
 * @throws RpcError when it is not one
 */
export function readTransaction(text: unknown, encoding: unknown): Transaction {
  if (typeof text !== "string") throw invalidParams("Invalid params: expected a string");
  const bytes = readBytes(text, encoding ?? "base58");
  if (bytes.length > MAX_TRANSACTION_BYTES) {
    const sizes = `${bytes.length} bytes (max: ${MAX_TRANSACTION_BYTES} bytes)`;
    throw invalidParams(
      `decoded solana_transaction::versioned::VersionedTransaction too large: ${sizes}`,
    );
  }
  try {
    const transaction = getTransactionDecoder().decode(bytes);
    compiledOf(transaction);
    return transaction;
  } catch (error) {
    if (error instanceof RpcError) throw error;
    if (isSolanaError(error, SOLANA_ERROR__TRANSACTION__MESSAGE_SIGNATURES_MISMATCH)) {
      throw invalidParams(
        "invalid transaction: Transaction failed to sanitize accounts offsets correctly",
      );
    }
    throw invalidParams(
      "failed to deserialize solana_transaction::versioned::VersionedTransaction: io error",
    );
  }
}

function readBytes(text: string, encoding: unknown): Uint8Array {
  try {
    if (encoding === "base58") return Uint8Array.from(getBase58Encoder().encode(text));
    if (encoding === "base64") return Uint8Array.fromBase64(text);
  } catch {
    throw invalidParams(`invalid ${String(encoding)} encoding`);
  }
  throw invalidParams(
    `unsupported encoding: ${String(encoding)}. Supported encodings: base58, base64`,
  );
}

/**
 * The message of a transaction.
 * @throws RpcError for versions beyond 0
 */
export function compiledOf(transaction: Transaction): CompiledMessage {
  const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
  if (message.version !== "legacy" && message.version !== 0) {
    throw new RpcError(rpcCodes.invalidParams, "invalid transaction: unsupported version");
  }
  return message as CompiledMessage;
}

/** A transaction's id: its first signature, empty or not. */
export function signatureOf(transaction: Transaction): Signature {
  const [first] = Object.values(transaction.signatures);
  return getBase58Decoder().decode(first ?? new Uint8Array(64)) as Signature;
}

import { decodeBase58, encodeBase58 } from "../lib/base58.ts";
import { member } from "../lib/exactJson.ts";
import type { ErrorJudgement, NodeError } from "./classify.ts";

/** Solana's integer chain ids in the registry, with the genesis hashes of the public clusters. */
const genesisHashes: ReadonlyMap<number, string> = new Map([
  [1_151_111_081_099_710, "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"],
  [133_268_194_659_241, "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG"],
]);
const publicHashes = new Set(genesisHashes.values());

/**
 * Whether a genesis hash can be a cluster's: its own, or that of a local cluster, which makes one
 * anew. Another public cluster's is not.
 */
export function isSolanaCluster(genesisHash: unknown, chainId: number): boolean {
  if (typeof genesisHash !== "string") return false;
  return genesisHashes.get(chainId) === genesisHash || !publicHashes.has(genesisHash);
}

const deliver: ErrorJudgement = { kind: "deliver" };
const missing: ErrorJudgement = { kind: "retry", reason: "missing-data", fault: false };
const unsupported: ErrorJudgement = { kind: "retry", reason: "unsupported-method", fault: false };
const trouble: ErrorJudgement = { kind: "retry", reason: "node-error", fault: true };

/**
 * What Solana's own codes mean (agave, rpc-client-api `custom_error`). Nearly all of them mean
 * something else on EVM nodes.
 */
const judgements: ReadonlyMap<number, ErrorJudgement> = new Map<number, ErrorJudgement>([
  // Block cleaned up, not available, skipped, without status yet; no snapshot, no history.
  ...[-32_001, -32_004, -32_007, -32_008, -32_009, -32_011, -32_014].map(
    (code): [number, ErrorJudgement] => [code, missing],
  ),
  // Preflight, signature, precompile, signature length, version of the transaction.
  ...[-32_002, -32_003, -32_006, -32_013, -32_015].map((code): [number, ErrorJudgement] => [
    code,
    deliver,
  ]),
  // Not in the node's secondary indexes; scan aborted.
  [-32_010, unsupported],
  [-32_012, { kind: "retry", reason: "node-error", fault: false }],
  // The node is behind the slot asked for.
  [-32_016, missing],
]);

/** Vendors in front of Solana nodes use the code for their limits, too. */
const UNHEALTHY = -32_005;
const unhealthyText = /behind|unhealthy/;
const PREFLIGHT_FAILURE = -32_002;
/** A node that is behind doesn't know the newest blockhashes. */
const unknownBlockhashText = /blockhash ?not ?found/;

/**
 * What a Solana node's error means.
 * @returns undefined for what the rules common to all nodes decide
 */
export function judgeSolanaError({ code, text }: NodeError): ErrorJudgement | undefined {
  if (code === undefined) return undefined;
  if (code === UNHEALTHY) return unhealthyText.test(text) ? trouble : undefined;
  if (code === PREFLIGHT_FAILURE && unknownBlockhashText.test(text)) return missing;
  return judgements.get(code);
}

const SIGNATURE_BYTES = 64;
/** Longest text of a transaction: a packet of 1,232 bytes in base64 or base58. */
const MAX_TEXT = 1_700;

/**
 * A transaction's id: its first signature, in base58.
 * @param params - of `sendTransaction`: the transaction, then options that may name its encoding
 * @returns undefined when there is none to be read
 */
export function readSolanaSignature([raw, options]: readonly unknown[]): string | undefined {
  if (typeof raw !== "string" || raw.length > MAX_TEXT) return undefined;
  const encoding = member(options, "encoding") ?? "base58";
  const bytes = encoding === "base64" ? decodeBase64(raw) : decodeBase58(raw);
  // The count in front of the signatures takes one byte below 128, which a packet cannot exceed.
  const [count = 0] = bytes ?? [];
  if (!bytes || count === 0 || count >= 0x80) return undefined;
  if (bytes.length <= 1 + count * SIGNATURE_BYTES) return undefined;
  return encodeBase58(bytes.subarray(1, 1 + SIGNATURE_BYTES));
}

/** Whether the answer of `getSignatureStatuses` shows the transaction asked for. */
export function isSolanaKnown(result: unknown): boolean {
  const status = member(result, "value", 0);
  return typeof status === "object" && status !== null;
}

function decodeBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.fromBase64(text);
  } catch {
    return undefined;
  }
}

import type { Hex } from "viem";

/** What the attestation service knows of one message of a transaction. */
export interface AttestedMessage {
  /** Both are there once the message is attested. */
  readonly message: Hex | undefined;
  readonly attestation: Hex | undefined;
  readonly eventNonce: string | undefined;
  /** Why a fast transfer is not fast. */
  readonly delayReason: string | null;
  /** How the forwarding service is doing; undefined: it says nothing. */
  readonly forwardState: "PENDING" | "CONFIRMED" | "COMPLETE" | "FAILED" | undefined;
  readonly forwardTxHash: string | undefined;
}

/**
 * Reads the answer of `GET /v2/messages/{domain}`: messages in the order of their logs. What is
 * malformed counts as not attested yet.
 */
export function parseMessages(answer: unknown): readonly AttestedMessage[] {
  const list = isRecord(answer) ? answer["messages"] : undefined;
  if (!Array.isArray(list)) return [];
  return list.map((entry) => parseMessage(isRecord(entry) ? entry : {}));
}

function parseMessage(entry: Record<string, unknown>): AttestedMessage {
  const isComplete = entry["status"] === "complete";
  const message = isComplete ? hexOf(entry["message"]) : undefined;
  const attestation = isComplete ? hexOf(entry["attestation"]) : undefined;
  const whole = message !== undefined && attestation !== undefined;
  const state = entry["forwardState"];
  return {
    message: whole ? message : undefined,
    attestation: whole ? attestation : undefined,
    eventNonce: hexOf(entry["eventNonce"]),
    delayReason: textOf(entry["delayReason"]) ?? null,
    forwardState:
      state === "PENDING" || state === "CONFIRMED" || state === "COMPLETE" || state === "FAILED"
        ? state
        : undefined,
    forwardTxHash: textOf(entry["forwardTxHash"]),
  };
}

/** Texts beyond this are not worth keeping. */
const MAX_TEXT = 128;

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value.slice(0, MAX_TEXT) : undefined;
}

function hexOf(value: unknown): Hex | undefined {
  return typeof value === "string" && /^0x(?:[0-9a-fA-F]{2})+$/.test(value)
    ? (value as Hex)
    : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

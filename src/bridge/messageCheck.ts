import type { Hex } from "viem";
import { decodeMessage, MESSAGE_VERSION, type BurnMessage } from "./message.ts";

/** What the attested message must say, known from our own burn. Words of 32 bytes. */
export interface ExpectedMessage {
  readonly sourceDomain: number;
  readonly destinationDomain: number;
  /** The source's TokenMessenger. */
  readonly sender: Hex;
  /** The destination's TokenMessenger. */
  readonly recipient: Hex;
  readonly minFinalityThreshold: number;
  readonly burnToken: Hex;
  readonly mintRecipient: Hex;
  readonly amountAtomic: bigint;
  readonly messageSender: Hex;
  readonly maxFeeAtomic: bigint;
  readonly hookData: Hex;
}

export type MessageCheck =
  | { readonly ok: true; readonly message: BurnMessage }
  /** Names of the fields that are not those of our burn. */
  | { readonly ok: false; readonly wrong: readonly string[] };

const ZERO_WORD: Hex = `0x${"00".repeat(32)}`;
/** A receiver refuses less (TokenMessengerV2). */
const MIN_FINALITY_EXECUTED = 500;

/**
 * Compares an attested message with our burn, field by field. Only what the attestation service
 * fills in is free, and that within its bounds.
 * @param eventNonce - nonce the service gives beside the message, where it gives one
 */
export function checkMessage(
  bytes: Hex,
  expected: ExpectedMessage,
  eventNonce?: string,
): MessageCheck {
  const message = decodeMessage(bytes);
  if (!message) return { ok: false, wrong: ["length"] };
  const { body } = message;
  const tests: Readonly<Record<string, boolean>> = {
    version: message.version === MESSAGE_VERSION,
    sourceDomain: message.sourceDomain === expected.sourceDomain,
    destinationDomain: message.destinationDomain === expected.destinationDomain,
    nonce: message.nonce !== ZERO_WORD && (!eventNonce || same(message.nonce, eventNonce)),
    sender: same(message.sender, expected.sender),
    recipient: same(message.recipient, expected.recipient),
    destinationCaller: message.destinationCaller === ZERO_WORD,
    minFinalityThreshold: message.minFinalityThreshold === expected.minFinalityThreshold,
    finalityThresholdExecuted: isExecuted(message.finalityThresholdExecuted, expected),
    bodyVersion: body.version === MESSAGE_VERSION,
    burnToken: same(body.burnToken, expected.burnToken),
    mintRecipient: same(body.mintRecipient, expected.mintRecipient),
    amount: body.amount === expected.amountAtomic,
    messageSender: same(body.messageSender, expected.messageSender),
    maxFee: body.maxFee === expected.maxFeeAtomic,
    feeExecuted: body.feeExecuted <= expected.maxFeeAtomic,
    hookData: same(body.hookData, expected.hookData),
  };
  const wrong = Object.keys(tests).filter((name) => !tests[name]);
  return wrong.length === 0 ? { ok: true, message } : { ok: false, wrong };
}

function isExecuted(executed: number, { minFinalityThreshold }: ExpectedMessage): boolean {
  return executed >= MIN_FINALITY_EXECUTED && executed >= Math.min(minFinalityThreshold, 2_000);
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

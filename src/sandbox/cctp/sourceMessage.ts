import { bytesToHex, type Hex, hexToBytes, hexToNumber, keccak256, slice } from "viem";
import { serializeSignature, sign } from "viem/accounts";
import { cctpAccounts } from "./accounts.ts";
import type { MessageField } from "./moods.ts";

/**
 * Works on a message as bytes, apart from the service's own codec, so that the two check each
 * other. Offsets and lengths in bytes: CCTP V2's header, then its burn body from 148 on.
 */
const fields: Readonly<Record<MessageField | "expirationBlock", readonly [number, number]>> = {
  version: [0, 4],
  sourceDomain: [4, 4],
  destinationDomain: [8, 4],
  nonce: [12, 32],
  sender: [44, 32],
  recipient: [76, 32],
  destinationCaller: [108, 32],
  minFinalityThreshold: [140, 4],
  finalityThresholdExecuted: [144, 4],
  bodyVersion: [148, 4],
  burnToken: [152, 32],
  mintRecipient: [184, 32],
  amount: [216, 32],
  messageSender: [248, 32],
  maxFee: [280, 32],
  feeExecuted: [312, 32],
  expirationBlock: [344, 32],
  hookData: [376, 1],
};

export function readNumber(message: Hex, field: keyof typeof fields): number {
  return hexToNumber(readField(message, field));
}

export function readField(message: Hex, field: keyof typeof fields): Hex {
  const [at, length] = fields[field];
  return slice(message, at, at + length);
}

/** The hook data, `0x` where there is none. */
export function hookDataOf(message: Hex): Hex {
  return `0x${message.slice(2 + 2 * 376)}`;
}

/** Writes big-endian numbers or words into fields. */
export function withFields(
  message: Hex,
  values: Partial<Record<keyof typeof fields, bigint | Hex>>,
): Hex {
  const bytes = hexToBytes(message);
  for (const [field, value] of Object.entries(values)) {
    const [at, length] = fields[field as keyof typeof fields];
    const hex = BigInt(value)
      .toString(16)
      .padStart(length * 2, "0");
    bytes.set(hexToBytes(`0x${hex}`), at);
  }
  return bytesToHex(bytes);
}

/** The message with one field made another, everything else kept. */
export function forge(message: Hex, field: MessageField): Hex {
  const bytes = hexToBytes(message);
  const [at, length] = fields[field];
  if (at >= bytes.length) return `${message}63`;
  bytes[at + length - 1] = (bytes[at + length - 1] ?? 0) ^ 1;
  // A forged fee must be one that is too high.
  if (field === "feeExecuted") bytes[at] = 0x7f;
  if (field === "nonce") bytes.fill(0, at, at + length);
  if (field === "finalityThresholdExecuted") bytes.fill(0, at, at + length);
  return bytesToHex(bytes);
}

/** Signatures of the attesters over the raw hash, ascending by address. */
export async function attest(message: Hex): Promise<Hex> {
  const hash = keccak256(message);
  const signatures = await Promise.all(
    cctpAccounts().attesters.map(async ({ privateKey }) =>
      serializeSignature(await sign({ hash, privateKey })),
    ),
  );
  return `0x${signatures.map((signature) => signature.slice(2)).join("")}`;
}

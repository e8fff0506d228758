import { type Hex, hexToBigInt, hexToNumber, numberToHex, size, slice } from "viem";

/** A CCTP V2 message: header and burn body. Words are 32 bytes, EVM addresses left-padded. */
export interface BurnMessage {
  readonly version: number;
  readonly sourceDomain: number;
  readonly destinationDomain: number;
  /** All zero in the source chain's own log; the attestation service fills it in. */
  readonly nonce: Hex;
  readonly sender: Hex;
  readonly recipient: Hex;
  /** All zero: anyone may deliver the message. */
  readonly destinationCaller: Hex;
  readonly minFinalityThreshold: number;
  readonly finalityThresholdExecuted: number;
  readonly body: BurnBody;
}

/** The body of a burn; amounts in atomic USDC. */
export interface BurnBody {
  readonly version: number;
  readonly burnToken: Hex;
  readonly mintRecipient: Hex;
  readonly amount: bigint;
  readonly messageSender: Hex;
  readonly maxFee: bigint;
  readonly feeExecuted: bigint;
  /** Block of the destination from which on the message is refused; 0: never. */
  readonly expirationBlock: bigint;
  readonly hookData: Hex;
}

/** Version of both header and body. */
export const MESSAGE_VERSION = 1;

/** Bytes before the body, and before the hook data. */
const HEADER_BYTES = 148;
const BODY_BYTES = HEADER_BYTES + 228;
/** Largest body a transmitter takes, and the header. */
const MAX_MESSAGE_BYTES = HEADER_BYTES + 8_192;

/**
 * Encodes a message. Layout: circlefin/evm-cctp-contracts, MessageV2 and BurnMessageV2.
 * @throws when a value does not fit its field
 */
export function encodeMessage({ body, ...header }: BurnMessage): Hex {
  return join([
    u32(header.version),
    u32(header.sourceDomain),
    u32(header.destinationDomain),
    word(header.nonce),
    word(header.sender),
    word(header.recipient),
    word(header.destinationCaller),
    u32(header.minFinalityThreshold),
    u32(header.finalityThresholdExecuted),
    u32(body.version),
    word(body.burnToken),
    word(body.mintRecipient),
    u256(body.amount),
    word(body.messageSender),
    u256(body.maxFee),
    u256(body.feeExecuted),
    u256(body.expirationBlock),
    body.hookData,
  ]);
}

/** Decodes a message; undefined when the bytes are too short or too long to be one. */
export function decodeMessage(message: Hex): BurnMessage | undefined {
  if (!/^0x(?:[0-9a-fA-F]{2})*$/.test(message)) return undefined;
  const bytes = size(message);
  if (bytes < BODY_BYTES || bytes > MAX_MESSAGE_BYTES) return undefined;
  const field = (at: number, length: number) => slice(message, at, at + length);
  const number = (at: number) => hexToNumber(field(at, 4));
  const wordAt = (at: number) => field(at, 32);
  const amountAt = (at: number) => hexToBigInt(field(at, 32));
  return {
    version: number(0),
    sourceDomain: number(4),
    destinationDomain: number(8),
    nonce: wordAt(12),
    sender: wordAt(44),
    recipient: wordAt(76),
    destinationCaller: wordAt(108),
    minFinalityThreshold: number(140),
    finalityThresholdExecuted: number(144),
    body: {
      version: number(HEADER_BYTES),
      burnToken: wordAt(HEADER_BYTES + 4),
      mintRecipient: wordAt(HEADER_BYTES + 36),
      amount: amountAt(HEADER_BYTES + 68),
      messageSender: wordAt(HEADER_BYTES + 100),
      maxFee: amountAt(HEADER_BYTES + 132),
      feeExecuted: amountAt(HEADER_BYTES + 164),
      expirationBlock: amountAt(HEADER_BYTES + 196),
      hookData: bytes === BODY_BYTES ? "0x" : slice(message, BODY_BYTES),
    },
  };
}

function u32(value: number): Hex {
  return numberToHex(value, { size: 4 });
}

function u256(value: bigint): Hex {
  return numberToHex(value, { size: 32 });
}

function word(value: Hex): Hex {
  if (size(value) !== 32) throw new Error(`${value} is not 32 bytes`);
  return value;
}

function join(parts: readonly Hex[]): Hex {
  return `0x${parts.map((part) => part.slice(2)).join("")}`.toLowerCase() as Hex;
}

import { createHash } from "node:crypto";
import {
  type Address,
  address,
  getAddressDecoder,
  getAddressEncoder,
  getProgramDerivedAddress,
  type ReadonlyUint8Array,
} from "@solana/kit";
import { type Hex, hexToBytes } from "viem";
import { solanaDevnet } from "../../../chains/networks/solana.ts";
import { solanaMints } from "../../solana/mints.ts";
import { tokenPrograms } from "../../solana/tokenLayout.ts";

/** Where CCTP V2's programs and its lookup table are on devnet, which the local cluster plays. */
export const cctpPrograms = {
  transmitter: address(solanaDevnet.cctp?.messageTransmitter ?? ""),
  messenger: address(solanaDevnet.cctp?.tokenMessenger ?? ""),
  lookupTable: address(solanaDevnet.cctp?.lookupTable ?? ""),
} as const;
export const SYSTEM_PROGRAM = address("11111111111111111111111111111111");
export const TOKEN_PROGRAM = tokenPrograms["spl-token"];
export const SOLANA_DOMAIN = solanaDevnet.cctp?.domain ?? -1;

/** First bytes of an Anchor instruction (`global:name`) or account (`account:Name`). */
export function discriminator(name: string): Uint8Array {
  return Uint8Array.from(createHash("sha256").update(name).digest().subarray(0, 8));
}

type Seed = string | Uint8Array | Address;

/** A program's derived address; addresses among the seeds are given in base58. */
async function derive(program: Address, name: string, ...seeds: Seed[]): Promise<Address> {
  const [found] = await getProgramDerivedAddress({
    programAddress: program,
    seeds: [name, ...seeds],
  });
  return found;
}

export const bytesOf = (of: Address): Uint8Array => Uint8Array.from(getAddressEncoder().encode(of));
export const addressOf = (bytes: ReadonlyUint8Array): Address => getAddressDecoder().decode(bytes);

const { transmitter, messenger } = cctpPrograms;
const usdc = bytesOf(solanaMints.usdc);

/** Derived addresses of the two programs; a domain is part of the seeds as decimal text. */
export const derived = {
  transmitterState: () => derive(transmitter, "message_transmitter"),
  transmitterEvents: () => derive(transmitter, "__event_authority"),
  receiverAuthority: () => derive(transmitter, "message_transmitter_authority", bytesOf(messenger)),
  usedNonce: (nonce: Hex) => derive(transmitter, "used_nonce", hexToBytes(nonce)),
  messengerState: () => derive(messenger, "token_messenger"),
  messengerEvents: () => derive(messenger, "__event_authority"),
  senderAuthority: () => derive(messenger, "sender_authority"),
  denylist: (owner: Address) => derive(messenger, "denylist_account", bytesOf(owner)),
  remoteMessenger: (domain: number) => derive(messenger, "remote_token_messenger", String(domain)),
  tokenPair: (domain: number, token: Hex) =>
    derive(messenger, "token_pair", String(domain), hexToBytes(token)),
  minter: () => derive(messenger, "token_minter"),
  localToken: () => derive(messenger, "local_token", usdc),
  custody: () => derive(messenger, "custody", usdc),
} as const;

/** Byte offset of the fee recipient in the messenger's state. */
const FEE_RECIPIENT_OFFSET = 8 + 3 * 32 + 4 + 1;
const STATE_BYTES = FEE_RECIPIENT_OFFSET + 32 + 32 + 4;

/** The messenger's state; what nobody reads here is zero. */
export function encodeMessengerState(feeRecipient: Address): Uint8Array {
  const data = new Uint8Array(STATE_BYTES);
  data.set(discriminator("account:TokenMessenger"));
  data.set(bytesOf(feeRecipient), FEE_RECIPIENT_OFFSET);
  return data;
}

export function feeRecipientOf(state: ReadonlyUint8Array): Address {
  return addressOf(state.slice(FEE_RECIPIENT_OFFSET, FEE_RECIPIENT_OFFSET + 32));
}

/** A remote messenger: domain and address. */
export function encodeRemoteMessenger(domain: number, word: Hex): Uint8Array {
  const data = new Uint8Array(8 + 4 + 32);
  data.set(discriminator("account:RemoteTokenMessenger"));
  new DataView(data.buffer).setUint32(8, domain, true);
  data.set(hexToBytes(word), 12);
  return data;
}

export function remoteMessengerOf(data: ReadonlyUint8Array): Uint8Array {
  return Uint8Array.from(data.slice(12, 44));
}

/** A burn's event account: who paid its rent, when it was made (unix seconds), and the message. */
export interface MessageSent {
  readonly rentPayer: Address;
  readonly createdAt: bigint;
  readonly message: Uint8Array;
}

const MESSAGE_OFFSET = 8 + 32 + 8 + 4;
const MESSAGE_SENT = discriminator("account:MessageSent");

export function encodeMessageSent({ rentPayer, createdAt, message }: MessageSent): Uint8Array {
  const data = new Uint8Array(MESSAGE_OFFSET + message.length);
  const view = new DataView(data.buffer);
  data.set(MESSAGE_SENT);
  data.set(bytesOf(rentPayer), 8);
  view.setBigInt64(40, createdAt, true);
  view.setUint32(48, message.length, true);
  data.set(message, MESSAGE_OFFSET);
  return data;
}

/** @returns undefined when the data is another account's */
export function decodeMessageSent(data: ReadonlyUint8Array): MessageSent | undefined {
  const bytes = Uint8Array.from(data);
  if (!MESSAGE_SENT.every((byte, index) => bytes[index] === byte)) return undefined;
  const view = new DataView(bytes.buffer);
  return {
    rentPayer: addressOf(bytes.subarray(8, 40)),
    createdAt: view.getBigInt64(40, true),
    message: bytes.subarray(MESSAGE_OFFSET, MESSAGE_OFFSET + view.getUint32(48, true)),
  };
}

import type { Address } from "@solana/kit";
import { bytesToHex, type Hex, keccak256, recoverAddress, slice } from "viem";
import { sandboxAccounts } from "../../accounts.ts";
import type { Cluster } from "../../solana/cluster.ts";
import { associatedTokenAddress } from "../../solana/genesis.ts";
import { solanaMints } from "../../solana/mints.ts";
import { type Effect, type Invocation, ProgramError, type StandIn } from "../../solana/standIn.ts";
import { cctpAccounts, SIGNATURE_THRESHOLD } from "../accounts.ts";
import { readField, readNumber } from "../sourceMessage.ts";
import { mintTo, transferLamports } from "./instructions.ts";
import { BorshReader, checkAccounts, type Place } from "./invocation.ts";
import {
  addressOf,
  bytesOf,
  cctpPrograms,
  decodeMessageSent,
  derived,
  discriminator,
  feeRecipientOf,
  remoteMessengerOf,
  SOLANA_DOMAIN,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "./programs.ts";

const RECEIVE = discriminator("global:receive_message");
const RECLAIM = discriminator("global:reclaim_event_account");
const USED_NONCE = Uint8Array.of(...discriminator("account:UsedNonce"), 1);
const SIGNATURE_BYTES = 65;
const MIN_FINALITY = 500;
/** A message's account can be closed when it is this old, seconds. */
const EVENT_WINDOW_SECONDS = 432_000n;
/** Bytes of a message the source chain knows: all but nonce, finality executed, fee and expiry. */
const SOURCE_PARTS = [[0, 12], [44, 144], [148, 312], [376]] as const;

/**
 * Stand-in of MessageTransmitterV2: receives messages for the token messenger, with the checks of
 * both, and closes event accounts. The tokens are minted by the token program itself.
 */
export const messageTransmitterStandIn: StandIn = async (invocation, cluster) => {
  const reader = new BorshReader(invocation.data);
  const name = Buffer.from(reader.take(8));
  if (name.equals(RECEIVE)) {
    const message = bytesToHex(reader.list());
    return receive(invocation, cluster, message, bytesToHex(reader.list()));
  }
  if (name.equals(RECLAIM)) {
    const attestation = bytesToHex(reader.list());
    return reclaim(invocation, cluster, bytesToHex(reader.list()), attestation);
  }
  throw new ProgramError(
    101,
    "InstructionFallbackNotFound",
    "Fallback functions are not supported",
  );
};

async function receive(
  invocation: Invocation,
  cluster: Cluster,
  message: Hex,
  attestation: Hex,
): Promise<Effect> {
  const [payer, caller] = invocation.accounts;
  if (!payer || !caller) throw new ProgramError(3005, "AccountNotEnoughKeys", "Not enough keys");
  await checkAttestation(message, attestation);
  checkHeader(message, caller.address);
  const usedNonce = await derived.usedNonce(readField(message, "nonce"));
  if (cluster.account(usedNonce)?.programAddress === cctpPrograms.transmitter) {
    throw new ProgramError(6023, "NonceAlreadyUsed", "Nonce already used");
  }
  const recipient = addressOf(bytesIn(message, "mintRecipient"));
  const feeRecipient = await feeRecipientAccount(cluster);
  checkAccounts(invocation, await receivePlaces(message, usedNonce, recipient, feeRecipient));
  await checkRemote(cluster, message);
  const [amount, fee] = checkAmounts(cluster, message);
  const authority = sandboxAccounts().solana.faucet.address;
  const size = BigInt(USED_NONCE.length);
  return {
    instructions: [
      transferLamports(payer.address, usedNonce, cluster.rentFor(size)),
      mintTo(authority, recipient, amount - fee),
      ...(fee > 0n ? [mintTo(authority, feeRecipient, fee)] : []),
    ],
    owned: [{ address: usedNonce, program: cctpPrograms.transmitter, data: USED_NONCE }],
  };
}

/** The accounts of `receive_message`, then those the token messenger mints with. */
export async function receivePlaces(
  message: Hex,
  usedNonce: Address,
  recipient: Address,
  feeRecipient: Address,
): Promise<Place[]> {
  const domain = readNumber(message, "sourceDomain");
  return [
    [undefined, "ws"],
    [undefined, "s"],
    [await derived.receiverAuthority(), ""],
    [await derived.transmitterState(), ""],
    [usedNonce, "w"],
    [cctpPrograms.messenger, ""],
    [SYSTEM_PROGRAM, ""],
    [await derived.transmitterEvents(), ""],
    [cctpPrograms.transmitter, ""],
    [await derived.messengerState(), ""],
    [await derived.remoteMessenger(domain), ""],
    [await derived.minter(), "w"],
    [await derived.localToken(), "w"],
    [await derived.tokenPair(domain, readField(message, "burnToken")), ""],
    [feeRecipient, "w"],
    [recipient, "w"],
    [await derived.custody(), "w"],
    [TOKEN_PROGRAM, ""],
    [await derived.messengerEvents(), ""],
    [cctpPrograms.messenger, ""],
  ];
}

/** The account that fees are minted to, as the messenger's state names its owner. */
async function feeRecipientAccount(cluster: Cluster): Promise<Address> {
  const state = cluster.account(await derived.messengerState());
  if (!state) throw new ProgramError(3012, "AccountNotInitialized", "No token messenger");
  return associatedTokenAddress(feeRecipientOf(state.data), solanaMints.usdc, TOKEN_PROGRAM);
}

/** As many signatures over the raw hash as the threshold asks for, ascending by signer. */
async function checkAttestation(message: Hex, attestation: Hex): Promise<void> {
  if ((attestation.length - 2) / 2 !== SIGNATURE_BYTES * SIGNATURE_THRESHOLD) {
    throw new ProgramError(6028, "InvalidAttestationLength", "Invalid attestation length");
  }
  const enabled = new Set(cctpAccounts().attesters.map(({ address }) => BigInt(address)));
  let last = 0n;
  for (let index = 0; index < SIGNATURE_THRESHOLD; index++) {
    const signature = slice(attestation, index * SIGNATURE_BYTES, (index + 1) * SIGNATURE_BYTES);
    const signer = BigInt(await recoverAddress({ hash: keccak256(message), signature }));
    if (signer <= last) {
      const text = "Invalid signature order or dupe";
      throw new ProgramError(6026, "InvalidSignatureOrderOrDupe", text);
    }
    if (!enabled.has(signer)) {
      throw new ProgramError(6027, "InvalidAttesterSignature", "Invalid attester signature");
    }
    last = signer;
  }
}

function checkHeader(message: Hex, caller: Address): void {
  if (readNumber(message, "destinationDomain") !== SOLANA_DOMAIN) {
    throw new ProgramError(6018, "InvalidDestinationDomain", "Invalid destination domain");
  }
  const allowed = BigInt(readField(message, "destinationCaller"));
  if (allowed !== 0n && allowed !== BigInt(bytesToHex(bytesOf(caller)))) {
    throw new ProgramError(6014, "InvalidDestinationCaller", "Invalid destination caller");
  }
  if (readNumber(message, "version") !== 1) {
    throw new ProgramError(6019, "InvalidMessageVersion", "Invalid message version");
  }
}

/** The sender must be the messenger that is linked for its domain, and the token linked to ours. */
async function checkRemote(cluster: Cluster, message: Hex): Promise<void> {
  const domain = readNumber(message, "sourceDomain");
  const remote = cluster.account(await derived.remoteMessenger(domain));
  if (!remote || bytesToHex(remoteMessengerOf(remote.data)) !== readField(message, "sender")) {
    throw new ProgramError(6002, "InvalidTokenMessenger", "Invalid token messenger");
  }
  if (!cluster.account(await derived.tokenPair(domain, readField(message, "burnToken")))) {
    throw new ProgramError(6011, "InvalidTokenPair", "Invalid token pair");
  }
  if (readNumber(message, "bodyVersion") !== 1) {
    throw new ProgramError(6005, "InvalidMessageBodyVersion", "Invalid message body version");
  }
}

/** Amount and fee of a message that may still be received. */
function checkAmounts(cluster: Cluster, message: Hex): readonly [bigint, bigint] {
  if (readNumber(message, "finalityThresholdExecuted") < MIN_FINALITY) {
    const text = "Unsupported finality threshold";
    throw new ProgramError(6017, "UnsupportedFinalityThreshold", text);
  }
  const expiration = BigInt(readField(message, "expirationBlock"));
  if (expiration !== 0n && expiration <= cluster.slots.current("processed")) {
    throw new ProgramError(6016, "MessageExpired", "Message has expired");
  }
  const amount = BigInt(readField(message, "amount"));
  const fee = BigInt(readField(message, "feeExecuted"));
  if (fee > 0n && fee >= amount) {
    throw new ProgramError(6014, "FeeExceedsAmount", "Fee exceeds amount");
  }
  if (fee > BigInt(readField(message, "maxFee"))) {
    throw new ProgramError(6015, "FeeExceedsMaxFee", "Fee exceeds the max fee");
  }
  return [amount, fee];
}

async function reclaim(
  invocation: Invocation,
  cluster: Cluster,
  message: Hex,
  attestation: Hex,
): Promise<Effect> {
  const [payee, , event] = invocation.accounts;
  const account = event && cluster.account(event.address);
  const isOwn = account?.programAddress === cctpPrograms.transmitter;
  const sent = isOwn ? decodeMessageSent(account.data) : undefined;
  if (!payee || !event || !sent) {
    throw new ProgramError(3012, "AccountNotInitialized", "No event account");
  }
  checkAccounts(invocation, [
    [sent.rentPayer, "ws"],
    [await derived.transmitterState(), "w"],
    [undefined, "w"],
  ]);
  if (BigInt(Math.floor(Date.now() / 1_000)) < sent.createdAt + EVENT_WINDOW_SECONDS) {
    const text = "Event account window not expired";
    throw new ProgramError(6033, "EventAccountWindowNotExpired", text);
  }
  if (sourceParts(bytesToHex(sent.message)) !== sourceParts(message)) {
    throw new ProgramError(6032, "InvalidDestinationMessage", "Invalid destination message");
  }
  await checkAttestation(message, attestation);
  return { instructions: [], closed: [{ address: event.address, payee: payee.address }] };
}

function sourceParts(message: Hex): string {
  return SOURCE_PARTS.map(([from, to]) =>
    message.slice(2 + 2 * from, to === undefined ? undefined : 2 + 2 * to),
  ).join();
}

function bytesIn(message: Hex, field: "mintRecipient"): Uint8Array {
  return Uint8Array.from(Buffer.from(readField(message, field).slice(2), "hex"));
}

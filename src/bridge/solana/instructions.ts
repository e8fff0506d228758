import {
  type AccountMeta,
  AccountRole,
  type AccountSignerMeta,
  type Address,
  address,
  type Instruction,
  type KeyPairSigner,
} from "@solana/kit";
import { type Hex, hexToBytes } from "viem";
import { solanaAddressOf } from "../words.ts";
import { burnAddresses, mintAddresses, programs, type SolanaCctp } from "./addresses.ts";

/** A burn as the program takes it; amounts in atomic USDC. */
export interface BurnTerms {
  readonly amount: bigint;
  readonly destinationDomain: number;
  readonly mintRecipient: Hex;
  readonly maxFee: bigint;
  readonly minFinalityThreshold: number;
  readonly hookData: Hex;
}

/** Anchor discriminators: the first 8 bytes of sha256("global:<name>"). */
const DEPOSIT_FOR_BURN = Uint8Array.of(215, 60, 61, 46, 114, 55, 128, 176);
const DEPOSIT_FOR_BURN_WITH_HOOK = Uint8Array.of(111, 245, 62, 131, 204, 108, 223, 155);
const RECLAIM_EVENT_ACCOUNT = Uint8Array.of(94, 198, 180, 159, 131, 236, 15, 174);
const RECEIVE_MESSAGE = Uint8Array.of(38, 144, 127, 225, 31, 225, 238, 25);
/** Instruction numbers of the associated-token and the compute-budget program. */
const CREATE_IDEMPOTENT = 1;
const SET_COMPUTE_UNIT_LIMIT = 2;

type Account = AccountMeta | AccountSignerMeta;
const read = (at: Address): Account => ({ address: at, role: AccountRole.READONLY });
const write = (at: Address): Account => ({ address: at, role: AccountRole.WRITABLE });
const signWrite = (signer: KeyPairSigner): Account => ({
  address: signer.address,
  role: AccountRole.WRITABLE_SIGNER,
  signer,
});

/**
 * `deposit_for_burn` or, with hook data, `deposit_for_burn_with_hook` of TokenMessengerMinterV2.
 * @param event - fresh key of the account that will hold the message
 */
export async function burnInstruction(
  cctp: SolanaCctp,
  owner: KeyPairSigner,
  event: KeyPairSigner,
  terms: BurnTerms,
): Promise<Instruction> {
  const at = await burnAddresses(cctp, owner.address, terms.destinationDomain);
  return {
    programAddress: cctp.tokenMessenger,
    accounts: [
      { address: owner.address, role: AccountRole.READONLY_SIGNER, signer: owner },
      signWrite(owner),
      read(at.senderAuthority),
      write(at.burnTokenAccount),
      read(at.denylistAccount),
      write(at.messageTransmitter),
      read(at.tokenMessenger),
      read(at.remoteTokenMessenger),
      read(at.tokenMinter),
      write(at.localToken),
      write(cctp.usdc),
      signWrite(event),
      read(cctp.messageTransmitter),
      read(cctp.tokenMessenger),
      read(programs.token),
      read(programs.system),
      read(at.eventAuthority),
      read(cctp.tokenMessenger),
    ],
    data: burnData(terms),
  };
}

/** Borsh: discriminator, then the arguments; integers are little-endian. */
function burnData({ hookData, ...terms }: BurnTerms): Uint8Array {
  const hasHook = hookData !== "0x";
  const hook = hexToBytes(hookData);
  const anyCaller = new Uint8Array(32);
  return Uint8Array.from([
    ...(hasHook ? DEPOSIT_FOR_BURN_WITH_HOOK : DEPOSIT_FOR_BURN),
    ...u64(terms.amount),
    ...u32(terms.destinationDomain),
    ...hexToBytes(terms.mintRecipient),
    ...anyCaller,
    ...u64(terms.maxFee),
    ...u32(terms.minFinalityThreshold),
    ...(hasHook ? list(hook) : []),
  ]);
}

/** What a mint needs to know of its message. */
export interface MintTerms {
  readonly bytes: Hex;
  readonly attestation: Hex;
  readonly nonce: Hex;
  readonly sourceDomain: number;
  readonly burnToken: Hex;
  readonly mintRecipient: Hex;
  /** Token account of the messenger's fee recipient. */
  readonly feeRecipientAccount: Address;
}

/** `receive_message` of MessageTransmitterV2, with the accounts TokenMessengerMinterV2 mints with. */
export async function receiveInstruction(
  cctp: SolanaCctp,
  payer: KeyPairSigner,
  terms: MintTerms,
): Promise<Instruction> {
  const at = await mintAddresses(cctp, terms);
  const [message, attestation] = [hexToBytes(terms.bytes), hexToBytes(terms.attestation)];
  return {
    programAddress: cctp.messageTransmitter,
    accounts: [
      signWrite(payer),
      { address: payer.address, role: AccountRole.READONLY_SIGNER, signer: payer },
      read(at.authority),
      read(at.messageTransmitter),
      write(at.usedNonce),
      read(cctp.tokenMessenger),
      read(programs.system),
      read(at.transmitterEventAuthority),
      read(cctp.messageTransmitter),
      read(at.tokenMessenger),
      read(at.remoteTokenMessenger),
      write(at.tokenMinter),
      write(at.localToken),
      read(at.tokenPair),
      write(terms.feeRecipientAccount),
      write(address(solanaAddressOf(terms.mintRecipient))),
      write(at.custody),
      read(programs.token),
      read(at.messengerEventAuthority),
      read(cctp.tokenMessenger),
    ],
    data: Uint8Array.from([...RECEIVE_MESSAGE, ...list(message), ...list(attestation)]),
  };
}

/**
 * `reclaim_event_account` of MessageTransmitterV2: closes the account that held a burn's message
 * and gives its rent back to who paid it.
 * @param terms - the message as attested
 */
export function reclaimInstruction(
  cctp: SolanaCctp,
  payee: KeyPairSigner,
  { transmitterState, event }: { readonly transmitterState: Address; readonly event: Address },
  terms: Pick<MintTerms, "bytes" | "attestation">,
): Instruction {
  const [message, attestation] = [hexToBytes(terms.bytes), hexToBytes(terms.attestation)];
  return {
    programAddress: cctp.messageTransmitter,
    accounts: [signWrite(payee), write(transmitterState), write(event)],
    data: Uint8Array.from([...RECLAIM_EVENT_ACCOUNT, ...list(attestation), ...list(message)]),
  };
}

/** Makes a wallet's token account where it is missing; `payer` pays the rent. */
export function createTokenAccountInstruction(
  payer: KeyPairSigner,
  account: Address,
  owner: Address,
  mint: Address,
): Instruction {
  return {
    programAddress: programs.associatedToken,
    accounts: [
      signWrite(payer),
      write(account),
      read(owner),
      read(mint),
      read(programs.system),
      read(programs.token),
    ],
    data: Uint8Array.of(CREATE_IDEMPOTENT),
  };
}

/** Raises the compute budget of a transaction. */
export function computeUnitLimitInstruction(units: number): Instruction {
  const data = Uint8Array.from([SET_COMPUTE_UNIT_LIMIT, ...u32(units)]);
  return { programAddress: programs.computeBudget, accounts: [], data };
}

function u32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
}

/** A list of bytes as Borsh has it: its length before it. */
function list(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from([...u32(bytes.length), ...bytes]);
}

function u64(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value, true);
  return bytes;
}

import {
  type Address,
  address,
  getAddressEncoder,
  getProgramDerivedAddress,
  isOffCurveAddress,
} from "@solana/kit";
import { type Hex, hexToBytes } from "viem";

/** Programs every cluster has. */
export const programs = {
  system: address("11111111111111111111111111111111"),
  token: address("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"),
  associatedToken: address("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"),
  computeBudget: address("ComputeBudget111111111111111111111111111111"),
} as const;

/** CCTP V2's programs and the USDC mint of one cluster. */
export interface SolanaCctp {
  readonly messageTransmitter: Address;
  readonly tokenMessenger: Address;
  readonly usdc: Address;
}

const encoder = getAddressEncoder();

/** A program's derived address. Text seeds are UTF-8. */
async function derive(programAddress: Address, ...seeds: readonly SeedBytes[]): Promise<Address> {
  const [found] = await getProgramDerivedAddress({ programAddress, seeds: [...seeds] });
  return found;
}
type SeedBytes = string | ReturnType<typeof encoder.encode> | Uint8Array;

const keyOf = (of: Address) => encoder.encode(of);

/** A wallet's own account of a token: derived from owner, token program and mint. */
export function associatedTokenAccount(owner: Address, mint: Address): Promise<Address> {
  const seeds = [keyOf(owner), keyOf(programs.token), keyOf(mint)] as const;
  return derive(programs.associatedToken, ...seeds);
}

/** Whether an address can be a wallet: only a point of the curve has a private key. */
export function canBeWallet(text: string): boolean {
  return !isOffCurveAddress(address(text));
}

/** Accounts of a burn (TokenMessengerMinterV2). */
export async function burnAddresses(cctp: SolanaCctp, owner: Address, destinationDomain: number) {
  const { tokenMessenger, usdc } = cctp;
  const names = {
    senderAuthority: derive(tokenMessenger, "sender_authority"),
    burnTokenAccount: associatedTokenAccount(owner, usdc),
    denylistAccount: derive(tokenMessenger, "denylist_account", keyOf(owner)),
    messageTransmitter: messageTransmitterAccount(cctp),
    tokenMessenger: tokenMessengerAccount(cctp),
    remoteTokenMessenger: remoteTokenMessenger(tokenMessenger, destinationDomain),
    tokenMinter: derive(tokenMessenger, "token_minter"),
    localToken: derive(tokenMessenger, "local_token", keyOf(usdc)),
    eventAuthority: derive(tokenMessenger, "__event_authority"),
  };
  return resolve(names);
}

/** Accounts of a mint (MessageTransmitterV2, then TokenMessengerMinterV2). */
export async function mintAddresses(
  cctp: SolanaCctp,
  message: { readonly nonce: Hex; readonly sourceDomain: number; readonly burnToken: Hex },
) {
  const { tokenMessenger, messageTransmitter, usdc } = cctp;
  const names = {
    authority: derive(messageTransmitter, "message_transmitter_authority", keyOf(tokenMessenger)),
    messageTransmitter: messageTransmitterAccount(cctp),
    usedNonce: usedNonce(cctp, message.nonce),
    transmitterEventAuthority: derive(messageTransmitter, "__event_authority"),
    tokenMessenger: tokenMessengerAccount(cctp),
    remoteTokenMessenger: remoteTokenMessenger(tokenMessenger, message.sourceDomain),
    tokenMinter: derive(tokenMessenger, "token_minter"),
    localToken: derive(tokenMessenger, "local_token", keyOf(usdc)),
    tokenPair: derive(
      tokenMessenger,
      "token_pair",
      String(message.sourceDomain),
      hexToBytes(message.burnToken),
    ),
    custody: derive(tokenMessenger, "custody", keyOf(usdc)),
    messengerEventAuthority: derive(tokenMessenger, "__event_authority"),
  };
  return resolve(names);
}

/** The messenger's own account, which names its fee recipient. */
export function tokenMessengerAccount({ tokenMessenger }: SolanaCctp): Promise<Address> {
  return derive(tokenMessenger, "token_messenger");
}

/** The transmitter's own account. */
export function messageTransmitterAccount({ messageTransmitter }: SolanaCctp): Promise<Address> {
  return derive(messageTransmitter, "message_transmitter");
}

/** The account that exists once a message with this nonce was received. */
export function usedNonce({ messageTransmitter }: SolanaCctp, nonce: Hex): Promise<Address> {
  return derive(messageTransmitter, "used_nonce", hexToBytes(nonce));
}

/** The domain is part of the seeds as decimal text. */
function remoteTokenMessenger(tokenMessenger: Address, domain: number): Promise<Address> {
  return derive(tokenMessenger, "remote_token_messenger", String(domain));
}

async function resolve<Names extends Readonly<Record<string, Promise<Address>>>>(
  names: Names,
): Promise<{ readonly [Name in keyof Names]: Address }> {
  const entries = Object.entries(names).map(async ([name, found]) => [name, await found] as const);
  return Object.fromEntries(await Promise.all(entries)) as { [Name in keyof Names]: Address };
}

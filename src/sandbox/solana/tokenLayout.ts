import { type Address, address, type ReadonlyUint8Array } from "@solana/kit";
import { getAddressDecoder, getAddressEncoder } from "@solana/kit";

/** The two programs that keep SPL tokens, by the name nodes give them in parsed accounts. */
export const tokenPrograms = {
  "spl-token": address("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"),
  "spl-token-2022": address("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"),
} as const;
export type TokenProgramName = keyof typeof tokenPrograms;

/** A token's own account, as both programs lay it out (spl-token `state::Mint`). */
export interface Mint {
  readonly mintAuthority: Address | undefined;
  readonly supply: bigint;
  readonly decimals: number;
  readonly freezeAuthority: Address | undefined;
}

/** An account that holds a token (spl-token `state::Account`). */
export interface TokenAccount {
  readonly mint: Address;
  readonly owner: Address;
  readonly amount: bigint;
  readonly delegate: Address | undefined;
  readonly delegatedAmount: bigint;
  readonly frozen: boolean;
  /** Lamports that are rent and not part of a wrapped balance; undefined unless wrapped SOL. */
  readonly nativeReserve: bigint | undefined;
  readonly closeAuthority: Address | undefined;
}

const MINT_BYTES = 82;
const ACCOUNT_BYTES = 165;
/** Says what a Token-2022 account with extensions is; it stands behind the plain account. */
const KIND_OFFSET = ACCOUNT_BYTES;
const KIND = { mint: 1, account: 2 } as const;
const STATE = { initialized: 1, frozen: 2 } as const;

/** Writes a mint without extensions. */
export function encodeMint(mint: Mint): Uint8Array {
  const data = new Uint8Array(MINT_BYTES);
  const view = new DataView(data.buffer);
  writeOption(data, 0, mint.mintAuthority);
  view.setBigUint64(36, mint.supply, true);
  data[44] = mint.decimals;
  data[45] = 1;
  writeOption(data, 46, mint.freezeAuthority);
  return data;
}

/** Writes an initialized account of `owner` without extensions. */
export function encodeTokenAccount(mint: Address, owner: Address, amount: bigint): Uint8Array {
  const data = new Uint8Array(ACCOUNT_BYTES);
  data.set(getAddressEncoder().encode(mint), 0);
  data.set(getAddressEncoder().encode(owner), 32);
  new DataView(data.buffer).setBigUint64(64, amount, true);
  data[108] = STATE.initialized;
  return data;
}

/** Reads a mint; undefined when the data is not one. */
export function decodeMint(data: ReadonlyUint8Array): Mint | undefined {
  if (data.length !== MINT_BYTES && data[KIND_OFFSET] !== KIND.mint) return undefined;
  if (data[45] !== 1) return undefined;
  const view = viewOf(data);
  return {
    mintAuthority: readOption(data, 0),
    supply: view.getBigUint64(36, true),
    decimals: view.getUint8(44),
    freezeAuthority: readOption(data, 46),
  };
}

/** Reads a token account; undefined when the data is not one in use. */
export function decodeTokenAccount(data: ReadonlyUint8Array): TokenAccount | undefined {
  if (data.length !== ACCOUNT_BYTES && data[KIND_OFFSET] !== KIND.account) return undefined;
  const state = data[108];
  if (state !== STATE.initialized && state !== STATE.frozen) return undefined;
  const view = viewOf(data);
  return {
    mint: readAddress(data, 0),
    owner: readAddress(data, 32),
    amount: view.getBigUint64(64, true),
    delegate: readOption(data, 72),
    delegatedAmount: view.getBigUint64(121, true),
    frozen: state === STATE.frozen,
    nativeReserve: view.getUint32(109, true) === 1 ? view.getBigUint64(113, true) : undefined,
    closeAuthority: readOption(data, 129),
  };
}

function viewOf(data: ReadonlyUint8Array): DataView {
  return new DataView(data.buffer, data.byteOffset, data.length);
}

function readAddress(data: ReadonlyUint8Array, offset: number): Address {
  return getAddressDecoder().decode(data, offset);
}

/** A `COption`: four bytes that say whether the value behind them counts. */
function readOption(data: ReadonlyUint8Array, offset: number): Address | undefined {
  return data[offset] === 1 ? readAddress(data, offset + 4) : undefined;
}

function writeOption(data: Uint8Array, offset: number, value: Address | undefined): void {
  if (!value) return;
  data[offset] = 1;
  data.set(getAddressEncoder().encode(value), offset + 4);
}

import type { Address, EncodedAccount, ReadonlyUint8Array } from "@solana/kit";
import { getBase58Decoder } from "@solana/kit";
import { formatDecimalAmount } from "../../lib/amounts.ts";
import { invalidParams, RpcError, rpcCodes } from "./errors.ts";
import {
  decodeMint,
  decodeTokenAccount,
  type TokenAccount,
  type TokenProgramName,
  tokenPrograms,
} from "./tokenLayout.ts";

/** Nodes write no longer data in base58. */
const MAX_BASE58_BYTES = 128;
/** What accounts exempt from rent carry: the highest 64-bit number. */
const RENT_EPOCH = 2n ** 64n - 1n;

export interface AccountJsonOptions {
  /** `base58`, `base64`, `base64+zstd` or `jsonParsed`; undefined: base58 without its name. */
  readonly encoding: unknown;
  readonly dataSlice?: { readonly offset: number; readonly length: number } | undefined;
  /** Decimals of a mint, to write the amounts of its accounts. */
  readonly decimalsOf: (mint: Address) => number | undefined;
}

/** An account as nodes answer it. */
export function accountJson(account: EncodedAccount, options: AccountJsonOptions): unknown {
  return {
    lamports: account.lamports,
    owner: account.programAddress,
    data: dataJson(account, options),
    executable: account.executable,
    rentEpoch: RENT_EPOCH,
    space: account.data.length,
  };
}

function dataJson(account: EncodedAccount, options: AccountJsonOptions): unknown {
  const { encoding, dataSlice } = options;
  if (encoding === "jsonParsed") {
    const parsed = parseTokenData(account, options.decimalsOf);
    if (parsed) return parsed;
  }
  const { data } = account;
  const bytes = dataSlice
    ? data.slice(dataSlice.offset, dataSlice.offset + dataSlice.length)
    : data;
  switch (encoding) {
    case undefined:
    case null:
      return toBase58(bytes);
    case "base58":
      return [toBase58(bytes), "base58"];
    case "base64":
    case "jsonParsed":
      return [Buffer.from(bytes).toString("base64"), "base64"];
    case "base64+zstd":
      return [Bun.zstdCompressSync(Uint8Array.from(bytes)).toString("base64"), "base64+zstd"];
    default:
      throw invalidParams(`Invalid params: unknown variant \`${String(encoding)}\`.`);
  }
}

function toBase58(bytes: ReadonlyUint8Array): string {
  if (bytes.length > MAX_BASE58_BYTES) {
    const rule = "Encoded binary (base 58) data should be less than 128 bytes";
    throw new RpcError(rpcCodes.invalidRequest, `${rule}, please use Base64 encoding.`);
  }
  return getBase58Decoder().decode(bytes);
}

/** Which token program owns an account, if one does. */
export function tokenProgramOf({ programAddress }: EncodedAccount): TokenProgramName | undefined {
  const names = Object.keys(tokenPrograms) as TokenProgramName[];
  return names.find((name) => tokenPrograms[name] === programAddress);
}

function parseTokenData(
  account: EncodedAccount,
  decimalsOf: AccountJsonOptions["decimalsOf"],
): unknown {
  const program = tokenProgramOf(account);
  if (!program) return undefined;
  const space = account.data.length;
  const mint = decodeMint(account.data);
  if (mint) {
    const { decimals, supply, mintAuthority = null, freezeAuthority = null } = mint;
    const info = {
      decimals,
      freezeAuthority,
      isInitialized: true,
      mintAuthority,
      supply: String(supply),
    };
    return { program, parsed: { type: "mint", info }, space };
  }
  const token = decodeTokenAccount(account.data);
  const decimals = token && decimalsOf(token.mint);
  if (!token || decimals === undefined) return undefined;
  return { program, parsed: { type: "account", info: tokenInfo(token, decimals) }, space };
}

function tokenInfo(token: TokenAccount, decimals: number): unknown {
  return {
    isNative: token.nativeReserve !== undefined,
    mint: token.mint,
    owner: token.owner,
    state: token.frozen ? "frozen" : "initialized",
    tokenAmount: amountJson(token.amount, decimals),
    ...(token.delegate && {
      delegate: token.delegate,
      delegatedAmount: amountJson(token.delegatedAmount, decimals),
    }),
    ...(token.nativeReserve !== undefined && {
      rentExemptReserve: amountJson(token.nativeReserve, decimals),
    }),
    ...(token.closeAuthority && { closeAuthority: token.closeAuthority }),
  };
}

/** A token amount as nodes answer it; only `amount` is exact. */
export function amountJson(amountAtomic: bigint, decimals: number): unknown {
  const text = formatDecimalAmount(amountAtomic, decimals);
  const uiAmountString = decimals === 0 ? text : text.replace(/\.?0+$/, "");
  return {
    amount: String(amountAtomic),
    decimals,
    uiAmount: Number(uiAmountString),
    uiAmountString,
  };
}

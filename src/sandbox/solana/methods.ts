import type { Address } from "@solana/kit";
import { amountJson, tokenProgramOf } from "./accountJson.ts";
import type { Cluster } from "./cluster.ts";
import { invalidParams } from "./errors.ts";
import type { Faucet } from "./faucet.ts";
import { asOptions, at, type Params, readAddress, VERSION, writeAccount } from "./params.ts";
import { setData } from "./genesis.ts";
import { readCommitment } from "./slots.ts";
import { decodeMint, decodeTokenAccount, tokenPrograms } from "./tokenLayout.ts";
import { sendTransaction, simulateTransaction } from "./transactionMethods.ts";
import { statusJson, transactionJson } from "./transactionJson.ts";

type Method = (cluster: Cluster, params: Params, faucet: Faucet) => unknown;

const MAX_ACCOUNTS = 100;
const MAX_SIGNATURES = 256;
const MAX_LISTED_SIGNATURES = 1_000;
const MAX_DATA_BYTES = 10 * 1_048_576;
const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;

/** Every method the node serves. */
export const methods: Readonly<Record<string, Method>> = {
  getHealth: () => "ok",
  getVersion: () => VERSION,
  getGenesisHash: ({ slots }) => slots.genesisHash,
  getSlot: (cluster, [options]) => at(cluster, options).slot,
  getBlockHeight: (cluster, [options]) => cluster.slots.heightOf(at(cluster, options).slot),
  getLatestBlockhash: (cluster, [options]) => {
    const view = at(cluster, options);
    return view.answer(cluster.slots.latestBlockhash(view.commitment));
  },
  isBlockhashValid: (cluster, [blockhash, options]) => {
    const view = at(cluster, options);
    return view.answer(cluster.slots.isValidBlockhash(String(blockhash), view.commitment));
  },
  getMinimumBalanceForRentExemption: (cluster, [size]) => {
    if (!Number.isInteger(size) || Number(size) < 0 || Number(size) > MAX_DATA_BYTES) {
      throw invalidParams("Invalid params: expected usize");
    }
    return cluster.rentFor(BigInt(Number(size)));
  },
  getBalance: (cluster, [text, options]) =>
    at(cluster, options).answer(cluster.account(readAddress(text))?.lamports ?? 0n),
  getAccountInfo: (cluster, [text, options]) =>
    at(cluster, options).answer(writeAccount(cluster, readAddress(text), asOptions(options))),
  getMultipleAccounts: (cluster, [texts, options]) => {
    const found = readList(texts, MAX_ACCOUNTS).map((text) =>
      writeAccount(cluster, readAddress(text), asOptions(options)),
    );
    return at(cluster, options).answer(found);
  },
  getTokenAccountsByOwner,
  getTokenAccountBalance: (cluster, [text, options]) => {
    const account = cluster.account(readAddress(text));
    const token = account && tokenProgramOf(account) && decodeTokenAccount(account.data);
    const decimals = token && cluster.decimalsOf(token.mint);
    if (!token || decimals === undefined) throw invalidParams("Invalid param: not a Token account");
    return at(cluster, options).answer(amountJson(token.amount, decimals));
  },
  getTokenSupply: (cluster, [text, options]) => {
    const account = cluster.account(readAddress(text));
    const mint = account && tokenProgramOf(account) && decodeMint(account.data);
    if (!mint) throw invalidParams("Invalid param: not a Token mint");
    return at(cluster, options).answer(amountJson(mint.supply, mint.decimals));
  },
  getSignatureStatuses,
  getSignaturesForAddress,
  getTransaction,
  sendTransaction,
  simulateTransaction,
  /** Of no real node: puts an account of a program in place. */
  sandbox_setAccount: (cluster, [text, program, data]) => {
    if (typeof data !== "string") throw invalidParams("Invalid params: expected base64");
    setData(cluster, readAddress(text), readAddress(program), Uint8Array.fromBase64(data));
    return null;
  },
  requestAirdrop: (_cluster, [text, lamports], faucet) => {
    if (!Number.isSafeInteger(lamports) || Number(lamports) < 0) {
      throw invalidParams("Invalid params: expected u64");
    }
    return faucet.drop(readAddress(text), BigInt(Number(lamports)));
  },
};

function getTokenAccountsByOwner(cluster: Cluster, [owner, filter, options]: Params): unknown {
  const wanted = readAddress(owner);
  const { mint, programId } = asOptions(filter);
  const chosen = mint === undefined ? undefined : readMint(cluster, mint);
  if (chosen === undefined && programId === undefined) {
    throw invalidParams("Invalid params: expected mint or programId");
  }
  const program = chosen?.program ?? readAddress(programId);
  if (!(Object.values(tokenPrograms) as Address[]).includes(program)) {
    throw invalidParams(`Invalid param: unrecognized Token program id`);
  }
  const found = cluster.accountsOf(program).filter(({ data }) => {
    const token = decodeTokenAccount(data);
    return token?.owner === wanted && (!chosen || token.mint === chosen.mint);
  });
  return at(cluster, options).answer(
    found.map(({ address }) => ({
      account: writeAccount(cluster, address, asOptions(options)),
      pubkey: address,
    })),
  );
}

function readMint(cluster: Cluster, text: unknown): { mint: Address; program: Address } {
  const mint = readAddress(text);
  const account = cluster.account(mint);
  if (!account) throw invalidParams("Invalid param: could not find mint");
  if (!tokenProgramOf(account) || !decodeMint(account.data)) {
    throw invalidParams("Invalid param: not a Token mint");
  }
  return { mint, program: account.programAddress };
}

function getSignatureStatuses(cluster: Cluster, [list]: Params): unknown {
  const statuses = readList(list, MAX_SIGNATURES).map((signature) => {
    const landed = cluster.landed(readSignature(signature));
    if (!landed) return null;
    const confirmationStatus = cluster.slots.commitmentOf(landed.slot);
    const depth = cluster.slots.current("processed") - landed.slot;
    return {
      confirmationStatus,
      confirmations: confirmationStatus === "finalized" ? null : depth,
      err: landed.error,
      slot: landed.slot,
      status: statusJson(landed.error),
    };
  });
  return at(cluster, { commitment: "processed" }).answer(statuses);
}

function getSignaturesForAddress(cluster: Cluster, [text, given]: Params): unknown {
  const options = asOptions(given);
  const limit = Number(options["limit"] ?? MAX_LISTED_SIGNATURES);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LISTED_SIGNATURES) {
    throw invalidParams(`Invalid limit; max ${MAX_LISTED_SIGNATURES}`);
  }
  const highest = cluster.slots.current(readCommitment(options["commitment"]));
  const named = cluster.landedNaming(readAddress(text)).filter(([, { slot }]) => slot <= highest);
  return named
    .slice(-limit)
    .toReversed()
    .map(([signature, { slot, error, blockTime }]) => ({
      blockTime,
      confirmationStatus: cluster.slots.commitmentOf(slot),
      err: error,
      memo: null,
      signature,
      slot,
    }));
}

function getTransaction(cluster: Cluster, [text, given]: Params): unknown {
  // Older clients give the encoding alone.
  const options = typeof given === "string" ? { encoding: given } : asOptions(given);
  const commitment = readCommitment(options["commitment"]);
  if (commitment === "processed") {
    throw invalidParams("Method does not support commitment below `confirmed`");
  }
  const landed = cluster.landed(readSignature(text));
  if (!landed || landed.slot > cluster.slots.current(commitment)) return null;
  const { encoding, maxSupportedTransactionVersion } = options;
  return transactionJson(landed, { encoding, maxSupportedTransactionVersion });
}

function readSignature(text: unknown): string {
  if (typeof text === "string" && SIGNATURE.test(text)) return text;
  throw invalidParams("Invalid param: WrongSize");
}

function readList(value: unknown, max: number): readonly unknown[] {
  if (!Array.isArray(value)) throw invalidParams("Invalid params: expected a sequence");
  if (value.length > max) throw invalidParams(`Too many inputs provided; max ${max}`);
  return value;
}

import { type Address, isAddress } from "@solana/kit";
import { accountJson } from "./accountJson.ts";
import type { Cluster } from "./cluster.ts";
import { invalidParams, RpcError, rpcCodes } from "./errors.ts";
import { type Commitment, readCommitment } from "./slots.ts";

/** Parameters of a call; nothing about them is certain. */
export type Params = readonly unknown[];
export type Options = Readonly<Record<string, unknown>>;

/** The version the answers are modelled on. */
export const VERSION = { "feature-set": 3_294_202_862, "solana-core": "3.0.6" };

/** The ledger as a call's options want it. */
export function at(cluster: Cluster, given: unknown) {
  const { commitment: wanted, minContextSlot } = asOptions(given);
  const commitment: Commitment = readCommitment(wanted);
  const slot = cluster.slots.current(commitment);
  if (typeof minContextSlot === "number" && slot < BigInt(minContextSlot)) {
    const data = { contextSlot: slot };
    throw new RpcError(rpcCodes.minContextSlot, "Minimum context slot has not been reached", data);
  }
  const context = { apiVersion: VERSION["solana-core"], slot };
  return { commitment, slot, answer: (value: unknown) => ({ context, value }) };
}

/** An account in the encoding the options want; null when there is none. */
export function writeAccount(cluster: Cluster, address: Address, options: Options): unknown {
  const account = cluster.account(address);
  if (!account) return null;
  const { encoding, dataSlice } = options;
  const { offset, length } = asOptions(dataSlice);
  const slice =
    typeof offset === "number" && typeof length === "number" ? { offset, length } : undefined;
  return accountJson(account, {
    encoding,
    dataSlice: slice,
    decimalsOf: (mint) => cluster.decimalsOf(mint),
  });
}

/** An options object; empty when the caller gave none. */
export function asOptions(value: unknown): Options {
  return typeof value === "object" && value !== null ? (value as Options) : {};
}

/** @throws RpcError when the text is not an address */
export function readAddress(text: unknown): Address {
  if (typeof text !== "string") throw invalidParams("Invalid params: expected a string");
  if (isAddress(text)) return text;
  const isBase58 = /^[1-9A-HJ-NP-Za-km-z]+$/.test(text);
  throw invalidParams(`Invalid param: ${isBase58 ? "WrongSize" : "Invalid"}`);
}

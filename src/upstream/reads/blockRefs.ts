import type { RpcCall } from "../types.ts";
import { type ReadMethod, readMethods } from "./methods.ts";

/** A block as calls name it (execution-apis' `BlockNumberOrTagOrHash`, EIP-1898). */
export type BlockRef =
  | { readonly kind: "number"; readonly number: number }
  | { readonly kind: "earliest" }
  /** `latest`, and `pending`, for which a node may have no answer. */
  | { readonly kind: "tip"; readonly isPending: boolean }
  /** `safe` and `finalized`: behind the tip, and moving with it. */
  | { readonly kind: "settled" }
  | { readonly kind: "hash" };

/** The block or blocks a call is about. */
export type CallRefs =
  | { readonly kind: "constant" }
  | { readonly kind: "block"; readonly ref: BlockRef }
  | { readonly kind: "range"; readonly from: BlockRef; readonly to: BlockRef }
  | { readonly kind: "hash"; readonly of: "block" | "transaction"; readonly hash: string }
  /** A method that is not known, or params that are not understood: nothing is assumed. */
  | { readonly kind: "unknown" };

/** A call with its method's traits and params, read once; params that need no reading are left. */
export interface ReadCall {
  readonly call: RpcCall;
  readonly method: ReadMethod | undefined;
  readonly params: readonly unknown[] | undefined;
  readonly refs: CallRefs;
}

const unknown: CallRefs = { kind: "unknown" };
const tipRef: BlockRef = { kind: "tip", isPending: false };
const tip: CallRefs = { kind: "block", ref: tipRef };
const tags: ReadonlyMap<string, BlockRef> = new Map<string, BlockRef>([
  ["latest", tipRef],
  ["pending", { kind: "tip", isPending: true }],
  ["safe", { kind: "settled" }],
  ["finalized", { kind: "settled" }],
  ["earliest", { kind: "earliest" }],
]);

/** Reads which blocks a call refers to. Never throws. */
export function readCall(call: RpcCall): ReadCall {
  const method = readMethods.get(call.method);
  if (!method) return { call, method, params: undefined, refs: unknown };
  if (isPlainAtTip(method, call)) return { call, method, params: undefined, refs: tip };
  const params = readParams(call);
  if (!params) return { call, method, params, refs: unknown };
  return { call, method, params, refs: refsOf(method, params) };
}

/** Two texts, of which the second is the tip: most reads of state, told without parsing them. */
const textAtTip = /^\["[^"\\]*","latest"\]$/;

function isPlainAtTip({ subject }: ReadMethod, { params }: RpcCall): boolean {
  if (subject.kind !== "at" || subject.index !== 1) return false;
  return params !== undefined && params.endsWith('"latest"]') && textAtTip.test(params);
}

function refsOf({ subject }: ReadMethod, params: readonly unknown[]): CallRefs {
  switch (subject.kind) {
    case "constant":
      return { kind: "constant" };
    case "tip":
      return tip;
    case "at": {
      const ref = parseBlockRef(params[subject.index]);
      return ref ? { kind: "block", ref } : unknown;
    }
    case "hash": {
      const [hash] = params;
      return isHash(hash) ? { kind: "hash", of: subject.of, hash: hash.toLowerCase() } : unknown;
    }
    case "filter":
      return filterRefs(params[0]);
  }
}

function filterRefs(filter: unknown): CallRefs {
  if (!isObject(filter)) return unknown;
  const { fromBlock, toBlock, blockHash } = filter;
  if (blockHash !== undefined) {
    if (fromBlock !== undefined || toBlock !== undefined) return unknown;
    return isHash(blockHash) ? { kind: "block", ref: { kind: "hash" } } : unknown;
  }
  const from = parseBlockRef(fromBlock);
  const to = parseBlockRef(toBlock);
  return from && to ? { kind: "range", from, to } : unknown;
}

/**
 * Reads one block reference; left out or null means the tip, as in nodes.
 * @returns undefined when it is none this service understands
 */
export function parseBlockRef(value: unknown): BlockRef | undefined {
  if (value === undefined || value === null) return tipRef;
  if (typeof value === "string") return tags.get(value) ?? numberRef(value) ?? hashRef(value);
  if (!isObject(value)) return undefined;
  const { blockNumber, blockHash } = value;
  if (blockHash !== undefined) return blockNumber === undefined ? hashRef(blockHash) : undefined;
  return typeof blockNumber === "string"
    ? (tags.get(blockNumber) ?? numberRef(blockNumber))
    : undefined;
}

function numberRef(text: string): BlockRef | undefined {
  const number = parseQuantity(text);
  return number === undefined ? undefined : { kind: "number", number };
}

function hashRef(value: unknown): BlockRef | undefined {
  return isHash(value) ? { kind: "hash" } : undefined;
}

/** A block number in hex, with leading zeros or without; undefined when it is none. */
export function parseQuantity(value: unknown): number | undefined {
  if (typeof value !== "string" || !/^0x0{0,50}[0-9a-fA-F]{1,13}$/.test(value)) return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : undefined;
}

/** A call's params, parsed; undefined when they are no list. */
export function readParams({ params }: RpcCall): readonly unknown[] | undefined {
  if (params === undefined) return [];
  const value: unknown = JSON.parse(params);
  return Array.isArray(value) ? value : undefined;
}

/** Whether a parsed JSON value is an object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isHash(value: unknown): value is string {
  return typeof value === "string" && /^0x[0-9a-fA-F]{64}$/.test(value);
}

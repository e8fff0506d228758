import type { ReadCall } from "./blockRefs.ts";
import { isObject, parseQuantity, readParams } from "./blockRefs.ts";

/** Members of call and filter objects that hold addresses. */
const addressMembers: ReadonlySet<string> = new Set([
  "from",
  "to",
  "address",
  "fromAddress",
  "toAddress",
]);
/** Members of filters and of EIP-1898 references that hold block numbers. */
const blockMembers: ReadonlySet<string> = new Set(["fromBlock", "toBlock", "blockNumber"]);
/** Params longer than this are replaced by their digest. */
const MAX_LENGTH = 256;

/** A text that is equal for calls that ask the same. */
export function canonicalKey(read: ReadCall): string {
  return keyOf(read.call.method, canonicalParams(read));
}

/** `canonicalKey` from the canonical params. */
export function keyOf(method: string, params: string): string {
  return `${method} ${params}`;
}

/**
 * A text that is equal for calls of one method that ask the same: the case of addresses and the
 * leading zeros of block numbers make no difference; every other byte of the params does.
 */
export function canonicalParams(read: ReadCall): string {
  const { params: text = "[]" } = read.call;
  return isCanonical(text) ? text : shorten(rewrite(read) ?? text);
}

/**
 * Upper case, leading zeros of quantities, white space, escapes, numbers: what writing params anew may
 * change. Addresses and hashes, which have more digits, keep their zeros.
 */
const changeable = /[A-Z \\\t\r\n]|"0x0[0-9a-f]{1,38}"|[[:,][-+\d]/;

/** Whether params are sure to be in their canonical form as they stand. */
function isCanonical(text: string): boolean {
  return text.length <= MAX_LENGTH && !changeable.test(text);
}

function rewrite({ call, method, refs, ...read }: ReadCall): string | undefined {
  const params = read.params ?? readParams(call);
  if (!method || !params || refs.kind === "unknown" || !isExact(params)) return undefined;
  const blockIndex = method.subject.kind === "at" ? method.subject.index : -1;
  const isHashed = method.subject.kind === "hash";
  const parts = params.map((value, index) => {
    if (method.addresses.includes(index)) return canonicalTarget(value);
    if (index === blockIndex) return canonicalBlock(value);
    return isHashed && index === 0 && typeof value === "string" ? value.toLowerCase() : value;
  });
  return JSON.stringify(parts);
}

function canonicalTarget(value: unknown): unknown {
  if (typeof value === "string") return value.toLowerCase();
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => {
    if (blockMembers.has(name)) return [name, canonicalBlock(member)];
    if (!addressMembers.has(name)) return [name, member];
    return [name, Array.isArray(member) ? member.map(lower) : lower(member)];
  });
  return Object.fromEntries(members);
}

function canonicalBlock(value: unknown): unknown {
  const number = parseQuantity(value);
  if (number !== undefined) return `0x${number.toString(16)}`;
  return isObject(value) ? canonicalTarget(value) : value;
}

function lower(value: unknown): unknown {
  return typeof value === "string" ? value.toLowerCase() : value;
}

/** Whether parsing kept every number as it was written. */
function isExact(value: unknown): boolean {
  if (typeof value === "number") return Number.isSafeInteger(value);
  if (typeof value !== "object" || value === null) return true;
  return Object.values(value).every(isExact);
}

function shorten(params: string): string {
  if (params.length <= MAX_LENGTH) return params;
  return new Bun.CryptoHasher("sha256").update(params).digest("base64");
}

import { findElements, findMembers, type Span, textOf, valueOf } from "../../lib/jsonSpan.ts";
import type { NodeAnswer } from "../nodeAnswer.ts";
import { parseQuantity } from "./blockRefs.ts";
import type { Evidence } from "./methods.ts";

/** A block that an answer describes. */
export interface SeenBlock {
  readonly number: number;
  readonly hash: string;
  readonly parentHash: string;
}

/**
 * The highest block an answer shows to exist.
 * @param evidence - where answers of the method tell it
 * @returns undefined when this answer shows none
 */
export function highestBlock(
  evidence: Evidence,
  { bytes, result }: NodeAnswer,
): number | undefined {
  if (!result) return undefined;
  switch (evidence) {
    case "none":
      return undefined;
    case "number":
      return parseQuantity(valueOf(bytes, result));
    case "block":
      return quantityMember(bytes, result, "number");
    case "inclusion":
      return quantityMember(bytes, result, "blockNumber");
    case "list":
      return lastOfList(bytes, result);
    case "history":
      return lastOfHistory(bytes, result);
  }
}

/** The block an answer of `eth_getBlockBy…` holds. */
export function seenBlock({ bytes, result }: NodeAnswer): SeenBlock | undefined {
  const members = result && findMembers(bytes, result, ["number", "hash", "parentHash"]);
  if (!members) return undefined;
  const [number, hash, parentHash] = members.map((span) => span && valueOf(bytes, span));
  const height = parseQuantity(number);
  if (height === undefined || typeof hash !== "string" || typeof parentHash !== "string") {
    return undefined;
  }
  return { number: height, hash, parentHash };
}

/** Whether a result says nothing: `null`, `[]`, `""` or `"0x"`. */
export function isEmptyResult({ bytes, result }: NodeAnswer): boolean {
  if (!result) return true;
  const length = result.end - result.start;
  if (length > 8) return false;
  const text = textOf(bytes, result).replaceAll(/\s/g, "");
  return text === "null" || text === "[]" || text === '""' || text === '"0x"' || text === "{}";
}

/** Whether a result is `null`. */
export function isNullResult({ bytes, result }: NodeAnswer): boolean {
  return result !== undefined && bytes[result.start] === 0x6e;
}

function quantityMember(bytes: Uint8Array, span: Span, name: string): number | undefined {
  const member = findMembers(bytes, span, [name])?.[0];
  return member && parseQuantity(valueOf(bytes, member));
}

/**
 * Block of a list's last member, found from the end: lists of logs may be megabytes long. The name
 * stands in no other text of a log, receipt or trace.
 */
function lastOfList(bytes: Uint8Array, { start, end }: Span): number | undefined {
  const list = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
  const at = list.lastIndexOf('"blockNumber"');
  if (at === -1) return undefined;
  const text = list.toString("latin1", at + 13, at + 80);
  return parseQuantity(/^\s*:\s*"(0x[0-9a-fA-F]+)"/.exec(text)?.[1]);
}

function lastOfHistory(bytes: Uint8Array, span: Span): number | undefined {
  const [oldest, ratios] = findMembers(bytes, span, ["oldestBlock", "gasUsedRatio"]) ?? [];
  const first = oldest && parseQuantity(valueOf(bytes, oldest));
  const blocks = ratios && findElements(bytes, ratios, 1_024)?.length;
  return first === undefined || !blocks ? first : first + blocks - 1;
}

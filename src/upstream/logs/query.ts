import { valueOf } from "../../lib/jsonSpan.ts";
import type { NodeAnswer } from "../nodeAnswer.ts";
import { troubleCodes, troubleText } from "../nodeErrors.ts";
import { type BlockRef, isObject, type ReadCall } from "../reads/blockRefs.ts";
import { canonicalKey } from "../reads/canonical.ts";
import type { RpcCall } from "../types.ts";
import type { BlockRange } from "./caps.ts";

/** A filter's blocks as numbers. */
export interface LogsQuery {
  readonly read: ReadCall;
  /** Equal for filters that differ in their blocks only. */
  readonly filter: string;
  /** The blocks that exist of those asked for. */
  readonly range: BlockRange;
  /** How many blocks the caller's text names, existing or not. */
  readonly namedBlocks: number;
}

/**
 * Reads the range of an `eth_getLogs`.
 * @param head - the chain's head, which `latest` means and above which there are no logs
 * @returns undefined when the ends cannot be told as numbers here, or are upside down
 */
export function logsQuery(read: ReadCall, head: number | undefined): LogsQuery | undefined {
  if (read.refs.kind !== "range" || head === undefined) return undefined;
  const from = numberOf(read.refs.from, head);
  const to = numberOf(read.refs.to, head);
  if (from === undefined || to === undefined || from > to || from > head) return undefined;
  const range = { from, to: Math.min(to, head) };
  return { read, filter: filterKey(read), range, namedBlocks: to - from + 1 };
}

/** The call for a part of the filter's range. */
export function pieceCall({ call, params }: ReadCall, { from, to }: BlockRange): RpcCall {
  const [filter, ...rest] = params ?? [];
  const range = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` };
  const piece = isObject(filter) ? { ...filter, ...range } : range;
  return { method: call.method, params: JSON.stringify([piece, ...rest]) };
}

/** Whether an answer's error is about the node and not about the query. */
export function isTrouble(answer: NodeAnswer): boolean {
  const value = answer.error && valueOf(answer.bytes, answer.error);
  const code = isObject(value) ? value["code"] : undefined;
  return troubleCodes.has(Number(code)) || troubleText.test(errorText(answer).toLowerCase());
}

/** Message and textual data of an answer's error. */
export function errorText({ bytes, error }: NodeAnswer): string {
  const value = error && valueOf(bytes, error);
  if (typeof value === "string") return value;
  if (!isObject(value)) return "";
  const { message, data } = value;
  const details = typeof data === "string" && !data.startsWith("0x") ? data : "";
  return `${typeof message === "string" ? message : ""} ${details}`;
}

function numberOf(ref: BlockRef, head: number): number | undefined {
  if (ref.kind === "number") return ref.number;
  if (ref.kind === "earliest") return 0;
  return ref.kind === "tip" && !ref.isPending ? head : undefined;
}

function filterKey(read: ReadCall): string {
  const [filter, ...rest] = read.params ?? [];
  if (!isObject(filter)) return canonicalKey(read);
  const others = { ...filter, fromBlock: null, toBlock: null };
  return canonicalKey({ ...read, params: [others, ...rest] });
}

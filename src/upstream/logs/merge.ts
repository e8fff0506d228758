import type { NodeAnswer } from "../nodeAnswer.ts";

const encoder = new TextEncoder();
const HEAD = encoder.encode('{"jsonrpc":"2.0","id":0,"result":[');
const TAIL = encoder.encode("]}");
const COMMA = 0x2c;
const ID_START = '{"jsonrpc":"2.0","id":'.length;

/** Bytes between the brackets of an answer's list, without white space at the ends. */
export function listBytes({ bytes, result }: NodeAnswer): Uint8Array | undefined {
  if (!result || bytes[result.start] !== 0x5b) return undefined;
  let start = result.start + 1;
  let end = result.end - 1;
  while (start < end && isSpace(bytes[start])) start++;
  while (end > start && isSpace(bytes[end - 1])) end--;
  return bytes.subarray(start, end);
}

/** One answer whose list holds the members of several, in order; members keep their bytes. */
export function mergeLists(lists: readonly Uint8Array[]): NodeAnswer {
  const filled = lists.filter((list) => list.length > 0);
  const between = Math.max(0, filled.length - 1);
  const size = filled.reduce((sum, list) => sum + list.length, between);
  const bytes = new Uint8Array(HEAD.length + size + TAIL.length);
  bytes.set(HEAD);
  let at = HEAD.length;
  for (const [index, list] of filled.entries()) {
    if (index > 0) bytes[at++] = COMMA;
    bytes.set(list, at);
    at += list.length;
  }
  bytes.set(TAIL, at);
  return {
    bytes,
    id: { start: ID_START, end: ID_START + 1 },
    result: { start: HEAD.length - 1, end: bytes.length - 1 },
    error: undefined,
  };
}

/** How many logs a list holds. */
export function countLogs(list: Uint8Array): number {
  const text = Buffer.from(list.buffer, list.byteOffset, list.length);
  let count = 0;
  for (let at = text.indexOf(LOG_MARK); at !== -1; at = text.indexOf(LOG_MARK, at + 1)) count++;
  return count;
}

/** Each log has one, and no other text of a log contains it. */
const LOG_MARK = '"transactionHash"';

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

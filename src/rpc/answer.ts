import { textOf } from "../lib/jsonSpan.ts";
import { type Part, Spliced } from "../lib/spliced.ts";
import type { RpcReply } from "../upstream/index.ts";
import type { RequestId } from "./request.ts";

const encoder = new TextEncoder();

/** An answer's JSON. */
export type RpcBody = Uint8Array<ArrayBuffer> | Spliced;

/** A JSON-RPC error: code, message, and data where there is some. */
export interface RpcFailure {
  readonly code: number;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** The structure or the chain is wrong (JSON-RPC 2.0, section 5.1). */
export const invalidRequest: RpcFailure = { code: -32600, message: "Invalid Request" };

/**
 * No node answered. Clients do not repeat this code on their own (EIP-1474: resource unavailable);
 * they do repeat -32603 and -32005, and each repeat would meet the same nodes.
 */
export const unreachable: RpcFailure = {
  code: -32002,
  message: "Failed to reach upstream RPC endpoint",
};

/** Longest method name repeated in an error. */
const MAX_METHOD_LENGTH = 64;

/** The method is not served. Clients know go-ethereum's wording and turn to other methods. */
export function methodRefused(method: string): RpcFailure {
  const name = method.slice(0, MAX_METHOD_LENGTH);
  return { code: -32601, message: `the method ${name} does not exist/is not available` };
}

/** A JSON-RPC error response. @param id - of the request */
export function errorBytes(id: RequestId, failure: RpcFailure): Uint8Array<ArrayBuffer> {
  const { code, message, data } = failure;
  const error = JSON.stringify({ code, message, ...(data && { data }) });
  return encoder.encode(`{"jsonrpc":"2.0","id":${idText(id)},"error":${error}}`);
}

/**
 * A JSON-RPC success response.
 * @param id - of the request
 * @param result - JSON text
 */
export function resultBytes(id: RequestId, result: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(`{"jsonrpc":"2.0","id":${idText(id)},"result":${result}}`);
}

function idText(id: RequestId): string {
  return textOf(id.bytes, id);
}

/**
 * A node's answer as it came, with only the id replaced (or added where the node left it out).
 * @param id - of the request
 */
export function withId({ bytes, id: cut }: RpcReply, id: RequestId): Spliced {
  return cut ? new Spliced(bytes, cut, id) : new Spliced(bytes, behindBrace, member(id));
}

/** Where the first member of an object stands. */
const behindBrace = { start: 1, end: 1 };

/** The member that an answer lacks. */
function member(id: RequestId): Part {
  const bytes = encoder.encode(`"id":${idText(id)},`);
  return { bytes, start: 0, end: bytes.length };
}

/** All of an answer in one piece. */
export function wholeOf(body: RpcBody): Uint8Array<ArrayBuffer> {
  return body instanceof Spliced ? body.toBytes() : body;
}

/** Joins responses into the array that answers a batch. */
export function joinBatch(items: readonly RpcBody[]): Uint8Array<ArrayBuffer> {
  const size = items.reduce((sum, item) => sum + item.length + 1, 1);
  const answer = new Uint8Array(Math.max(2, size));
  answer[0] = 0x5b;
  let at = 1;
  for (const item of items) {
    if (item instanceof Spliced) item.copyTo(answer, at);
    else answer.set(item, at);
    at += item.length;
    answer[at++] = 0x2c;
  }
  answer[answer.length - 1] = 0x5d;
  return answer;
}

import type { RpcReply } from "../upstream/index.ts";

const encoder = new TextEncoder();

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

/**
 * A JSON-RPC error response.
 * @param id - JSON text of the request's id
 */
export function errorBytes(id: string, failure: RpcFailure): Uint8Array<ArrayBuffer> {
  const { code, message, data } = failure;
  const error = JSON.stringify({ code, message, ...(data && { data }) });
  return encoder.encode(`{"jsonrpc":"2.0","id":${id},"error":${error}}`);
}

/**
 * A JSON-RPC success response.
 * @param id - JSON text of the request's id
 * @param result - JSON text
 */
export function resultBytes(id: string, result: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);
}

/**
 * A node's answer as it came, with only the id replaced (or added where the node left it out).
 * @param id - JSON text of the request's id
 */
export function withId(reply: RpcReply, id: string): Uint8Array<ArrayBuffer> {
  const { bytes } = reply;
  const start = reply.id?.start ?? 1;
  const end = reply.id?.end ?? 1;
  const idText = reply.id ? id : `"id":${id},`;
  const idBytes = Buffer.byteLength(idText);
  const answer = Buffer.allocUnsafeSlow(bytes.length - (end - start) + idBytes);
  copy(bytes, 0, start, answer, 0);
  answer.write(idText, start);
  copy(bytes, end, bytes.length, answer, start + idBytes);
  return answer;
}

/** Ranges up to this size are copied byte by byte, which is less than cutting out a view of them. */
const MAX_LOOP_BYTES = 256;

function copy(from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): void {
  if (end - start > MAX_LOOP_BYTES) return to.set(from.subarray(start, end), at);
  for (let index = start; index < end; index++) to[at + index - start] = from[index] ?? 0;
}

/** Joins responses into the array that answers a batch. */
export function joinBatch(items: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const size = items.reduce((sum, item) => sum + item.length + 1, 1);
  const answer = new Uint8Array(Math.max(2, size));
  answer[0] = 0x5b;
  let at = 1;
  for (const item of items) {
    answer.set(item, at);
    at += item.length;
    answer[at++] = 0x2c;
  }
  answer[answer.length - 1] = 0x5d;
  return answer;
}

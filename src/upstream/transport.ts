import type { CancelSignal } from "../lib/cancel.ts";
import { custom, RpcRequestError, type Transport } from "viem";
import { textOf } from "../lib/jsonSpan.ts";
import type { RpcCall, RpcReply } from "./types.ts";

/** Sends one call and gives the node's answer. */
export type Send = (call: RpcCall, signal: CancelSignal | undefined) => Promise<RpcReply>;

interface JsonRpcObject {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/**
 * A viem transport on top of the pool. viem does not retry: the pool has done so.
 * Errors of a node reach the caller as viem's own error classes, as with its `http` transport.
 */
export function poolTransport(name: string, send: Send): Transport {
  const request = async (
    { method, params }: { method: string; params?: unknown },
    options?: { signal?: CancelSignal | undefined },
  ): Promise<unknown> => {
    const text = params === undefined ? undefined : JSON.stringify(params);
    const reply = await send({ method, params: text }, options?.signal);
    const whole = { start: 0, end: reply.bytes.length };
    const { result, error } = JSON.parse(textOf(reply.bytes, whole)) as JsonRpcObject;
    if (reply.isError && error) {
      throw new RpcRequestError({ body: { method, params }, error, url: reply.upstream });
    }
    return result;
  };
  return custom({ request }, { key: "pool", name, retryCount: 0 });
}

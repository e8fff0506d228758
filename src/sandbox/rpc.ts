/** One JSON-RPC call. */
export interface NodeCall {
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** A plain JSON-RPC client for local nodes, without retries. */
export interface NodeRpc {
  /** @throws Error with the method and the node's message when it answers with an error */
  call(method: string, params?: readonly unknown[]): Promise<unknown>;
  /** Sends all calls as one batch; results in the order of the calls. */
  batch(calls: readonly NodeCall[]): Promise<unknown[]>;
}

interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/**
 * A client of the node at `url`.
 * @param timeoutMs - time allowed for one request, a batch included
 */
export function nodeRpc(url: string, timeoutMs = 30_000): NodeRpc {
  async function post(body: unknown): Promise<unknown> {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    return response.json();
  }
  return {
    async call(method, params = []) {
      const reply = (await post({ jsonrpc: "2.0", id: 1, method, params })) as Reply;
      return resultOf(method, reply);
    },
    async batch(calls) {
      const items = calls.map(({ method, params = [] }, id) => ({
        jsonrpc: "2.0",
        id,
        method,
        params,
      }));
      const replies = new Map<number, Reply>();
      for (const reply of (await post(items)) as Reply[]) replies.set(reply.id, reply);
      return calls.map(({ method }, id) => resultOf(method, replies.get(id)));
    },
  };
}

function resultOf(method: string, reply: Reply | undefined): unknown {
  if (!reply) throw new Error(`${method}: no answer in the batch`);
  if (reply.error) throw new Error(`${method}: ${reply.error.message} (${reply.error.code})`);
  return reply.result;
}

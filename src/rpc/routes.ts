import { Elysia } from "elysia";
import {
  admissionOf,
  admitItems,
  describeOperation,
  type DirectHandler,
  openSession,
  type PlainAnswer,
  setChargedChain,
  upgradeHeaders,
} from "../access/index.ts";
import type { CancelSignal } from "../lib/cancel.ts";
import { ApiError, type ErrorCode } from "../lib/errors.ts";
import { readBody } from "../lib/http.ts";
import { errorBytes, invalidRequest } from "./answer.ts";
import { RpcAnswerSchema, RpcBodySchema, RpcErrorSchema } from "./model.ts";
import type { RpcInput, RpcService } from "./service.ts";
import type { RpcSockets } from "./ws.ts";

/** Path of the proxy, as routers write it. */
export const RPC_PATH = "/api/public/rpc/:chainId";

/**
 * Answers POST as the route below does, for the server's own router, which calls it in place of
 * that route wherever it can. The route stays for what only the framework's router understands,
 * such as a slash at the end, and for the API documents.
 */
export function directRpc(
  service: RpcService,
  options: { readonly maxBodyBytes: number },
): DirectHandler {
  return (request, presence) =>
    answer(service, request, request.params["chainId"] ?? "", options.maxBodyBytes, presence);
}

/** POST /api/public/rpc/{chainId}, and WebSocket at the same path. */
export function rpcRoutes(
  service: RpcService,
  sockets: RpcSockets,
  options: { readonly maxBodyBytes: number },
) {
  const app = new Elysia({ name: "rpc" }).post(
    RPC_PATH,
    async ({ request, params }) => {
      const { maxBodyBytes } = options;
      const { body, ...init } = await answer(
        service,
        request,
        params.chainId,
        maxBodyBytes,
        request.signal,
      );
      return new Response(body, init);
    },
    describeOperation("rpc", {
      summary: "Send a JSON-RPC request to a chain",
      description:
        "Forwards the request to the healthiest node of the chain, and to others when it fails. " +
        "The node's answer comes back byte for byte with your id. An array is a batch: one answer " +
        "per item, in order, each counted and charged as one request.\n\n" +
        "Methods that act with a node's own keys, control it, or keep state on it (filters) answer " +
        "error -32601.\n\n" +
        socketDescription,
      tag: "RPC",
      parameters: {
        chainId: { description: "Chain id in decimal, or a network's name.", example: "5042002" },
      },
      request: {
        schema: RpcBodySchema,
        example: { jsonrpc: "2.0", method: "eth_blockNumber", params: [], id: 1 },
      },
      response: {
        schema: RpcAnswerSchema,
        example: { jsonrpc: "2.0", id: 1, result: "0x1a2b3c" },
      },
      headers: {
        "X-Upstream-Attempts": "Requests to nodes made for this answer.",
        "X-Upstream-Source":
          "`upstream` (with `hedged`, `retried`), `shared` with the same call of another caller " +
          "under way, `cache` for what cannot change, or `local`; each distinct one of a batch.",
      },
      errors: ["INVALID_RPC_REQUEST", "UPSTREAM_UNREACHABLE"],
      ownErrorBody: {
        statuses: [400, 413],
        schema: RpcErrorSchema,
        example: { jsonrpc: "2.0", id: 1, error: invalidRequest },
      },
    }),
  );
  // Elysia's own socket routes parse messages as JSON first, which costs ids their digits.
  return app.get(
    RPC_PATH,
    ({ request, params, server, set }) => {
      const chain = service.findChain(params.chainId);
      if (!chain) return invalidAnswer(400);
      const connection = sockets.accept(openSession(request), chain);
      const headers = upgradeHeaders(request);
      if (!server?.upgrade(request, { headers, data: connection })) {
        connection.close();
        return invalidAnswer(400);
      }
      // Said of the answer the server has sent; an upgrade is counted and not charged.
      set.status = 101;
      return undefined;
    },
    { detail: { hide: true } },
  );
}

const socketDescription =
  "The same path takes WebSocket connections, with the key in the same headers, or as the " +
  "subprotocols `jsonrpc` and `key.<API key>` where a client cannot set headers. Messages are " +
  "requests or batches, answered, counted and charged as over HTTP; what is over a limit is " +
  "answered with error -32005 and `data.retryAfterSeconds`. `eth_subscribe` takes `newHeads` and " +
  "`logs`; every notification costs 1 CU. Close codes: 4401 the key is no longer valid, 4408 the " +
  "consumer is too slow, 4429 the compute-unit allowance is used up.";

async function answer(
  service: RpcService,
  request: Request,
  chain: string,
  maxBodyBytes: number,
  signal: CancelSignal,
): Promise<PlainAnswer> {
  const { keyId } = admissionOf(request);
  try {
    const input: RpcInput = {
      chain: service.findChain(chain),
      request: service.read(await readBody(request, maxBodyBytes)),
      caller: keyId,
      admit: (items) => admitItems(request, items),
      chargedChain: (chainId) => setChargedChain(request, chainId),
    };
    const output = await service.handle(input, signal);
    const headers: Record<string, string> = {
      "content-type": "application/json",
      "x-upstream-attempts": String(output.attempts),
      "x-upstream-source": output.source,
    };
    if (output.status === 400) headers["x-error-code"] = "INVALID_RPC_REQUEST";
    return { status: output.status, headers, body: service.httpBody(output.body) };
  } catch (error) {
    if (signal.aborted) return { status: 499, headers: {}, body: null };
    // Clients repeat a 413 unless its body is a JSON-RPC error.
    if (error instanceof ApiError && error.code === "BODY_TOO_LARGE") {
      return invalidRpc(error.status, error.code);
    }
    throw error;
  }
}

function invalidRpc(status: number, code: ErrorCode = "INVALID_RPC_REQUEST"): PlainAnswer {
  const headers = { "content-type": "application/json", "x-error-code": code };
  return { status, headers, body: errorBytes("null", invalidRequest) };
}

function invalidAnswer(status: number): Response {
  const { body, ...init } = invalidRpc(status);
  return new Response(body, init);
}

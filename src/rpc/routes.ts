import { Elysia } from "elysia";
import { admitted, describeOperation, openSession, upgradeHeaders } from "../access/index.ts";
import { clientSignal } from "../lib/client.ts";
import { ApiError } from "../lib/errors.ts";
import { type PlainAnswer, readBody, toResponse } from "../lib/http.ts";
import { invalidRequest } from "./answer.ts";
import { answerCall, gone, invalidRpc, RPC_PREFIX, tooLarge } from "./http.ts";
import { RpcAnswerSchema, RpcBodySchema, RpcErrorSchema } from "./model.ts";
import type { RpcService } from "./service.ts";
import type { RpcSockets } from "./ws.ts";

/** Path of the proxy, as routers write it. */
const RPC_PATH = `${RPC_PREFIX}:chainId` as const;

/** POST /api/public/rpc/{chainId}, and WebSocket at the same path. */
export function rpcRoutes(
  service: RpcService,
  sockets: RpcSockets,
  options: { readonly maxBodyBytes: number },
) {
  const app = new Elysia({ name: "rpc" }).post(
    RPC_PATH,
    async ({ request, params }) =>
      respond(service, await answer(service, request, params.chainId, options.maxBodyBytes)),
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
      if (!chain) return respond(service, invalidRpc(400));
      const connection = sockets.accept(openSession(request), chain);
      const headers = upgradeHeaders(request);
      if (!server?.upgrade(request, { headers, data: connection })) {
        connection.close();
        return respond(service, invalidRpc(400));
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
  segment: string,
  maxBodyBytes: number,
): Promise<PlainAnswer> {
  const signal = clientSignal(request);
  const passage = admitted(request);
  try {
    const bytes = await readBody(request, maxBodyBytes);
    return await new Promise((reply, fail) => {
      const call = answerCall(service, { segment, bytes, bodyAt: 0, passage }, { reply, fail });
      const leave = () => {
        call.abort();
        reply(gone());
      };
      signal.addEventListener("abort", leave, { once: true });
    });
  } catch (error) {
    if (signal.aborted) return gone();
    if (error instanceof ApiError && error.code === "BODY_TOO_LARGE") return tooLarge();
    throw error;
  }
}

function respond(service: RpcService, plain: PlainAnswer): Response {
  const { body } = plain;
  return typeof body === "string" || body === null
    ? toResponse(plain)
    : toResponse(plain, service.httpBody(body));
}

import { Elysia } from "elysia";
import { admissionOf, admitItems, describeOperation, setChargedChain } from "../access/index.ts";
import { ApiError } from "../lib/errors.ts";
import { readBody } from "../lib/http.ts";
import { errorBytes, invalidRequest } from "./answer.ts";
import { RpcRequestSchema, RpcResponseSchema } from "./model.ts";
import type { RpcService } from "./service.ts";

/** POST /api/public/rpc/{chainId}. */
export function rpcRoutes(service: RpcService, options: { readonly maxBodyBytes: number }) {
  return new Elysia({ name: "rpc" }).post(
    "/api/public/rpc/:chainId",
    ({ request, params }) => answer(service, request, params.chainId, options.maxBodyBytes),
    describeOperation("rpc", {
      summary: "Send a JSON-RPC request to a chain",
      description:
        "Forwards the request to the healthiest node of the chain, and to others when it fails. " +
        "The node's answer comes back byte for byte with your id. An array is a batch: one answer " +
        "per item, in order, each counted and charged as one request.\n\n" +
        "Methods that act with a node's own keys, control it, or keep state on it (filters, " +
        "subscriptions) answer error -32601.",
      tag: "RPC",
      parameters: {
        chainId: { description: "Chain id in decimal, or a network's name.", example: "5042002" },
      },
      request: {
        schema: RpcRequestSchema,
        example: { jsonrpc: "2.0", method: "eth_blockNumber", params: [], id: 1 },
      },
      response: {
        schema: RpcResponseSchema,
        example: { jsonrpc: "2.0", id: 1, result: "0x1a2b3c" },
      },
      headers: { "X-Upstream-Attempts": "Requests to nodes made for this answer." },
      errors: ["INVALID_RPC_REQUEST", "UPSTREAM_UNREACHABLE"],
    }),
  );
}

async function answer(
  service: RpcService,
  request: Request,
  chain: string,
  maxBodyBytes: number,
): Promise<Response> {
  const { keyId } = admissionOf(request);
  try {
    const output = await service.handle({
      chain,
      body: await readBody(request, maxBodyBytes),
      caller: keyId,
      signal: request.signal,
      admit: (items) => admitItems(request, items),
      chargedChain: (chainId) => setChargedChain(request, chainId),
    });
    const code = output.status === 400 ? { "x-error-code": "INVALID_RPC_REQUEST" } : undefined;
    return new Response(output.body, {
      status: output.status,
      headers: {
        "content-type": "application/json",
        "x-upstream-attempts": String(output.attempts),
        ...code,
      },
    });
  } catch (error) {
    if (request.signal.aborted) return new Response(null, { status: 499 });
    // Clients repeat a 413 unless its body is a JSON-RPC error.
    if (error instanceof ApiError && error.code === "BODY_TOO_LARGE") {
      return new Response(errorBytes("null", invalidRequest), {
        status: error.status,
        headers: { "content-type": "application/json", "x-error-code": error.code },
      });
    }
    throw error;
  }
}

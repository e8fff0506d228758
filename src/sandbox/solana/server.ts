import {
  answerEach,
  errorAnswer,
  messagesOf,
  parseBody,
  type RpcAnswer,
  type RpcMessage,
} from "../faults/messages.ts";
import type { Cluster } from "./cluster.ts";
import { RpcError, rpcCodes } from "./errors.ts";
import type { Faucet } from "./faucet.ts";
import { methods } from "./methods.ts";

/** A running JSON-RPC node. */
export interface SolanaServer {
  readonly url: string;
  stop(): Promise<void>;
}

const MAX_BODY_BYTES = 1_048_576;
const INTERNAL_ERROR = -32_603;

// Part of ECMA-262 (JSON.parse source text access) and not in the type yet.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/**
 * Serves a cluster as a Solana node does.
 * @param port - 0 picks a free one
 */
export function serveCluster(cluster: Cluster, faucet: Faucet, port = 0): SolanaServer {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    idleTimeout: 0,
    maxRequestBodySize: MAX_BODY_BYTES,
    async fetch(request) {
      if (new URL(request.url).pathname === "/health") return new Response("ok");
      if (request.method !== "POST") {
        return new Response("Used HTTP Method is not allowed. POST or OPTIONS is required", {
          status: 405,
        });
      }
      const body = parseBody(await request.text());
      if (body === undefined) return respond(errorAnswer({}, -32_700, "Parse error"));
      const answers = await Promise.all(
        messagesOf(body).map((message) => answer(cluster, faucet, message)),
      );
      return respond(
        answerEach(body, (message, index) => answers[index] ?? errorAnswer(message, -32_600, "")),
      );
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

async function answer(cluster: Cluster, faucet: Faucet, message: RpcMessage): Promise<RpcAnswer> {
  const { method, params = [] } = message;
  if (typeof method !== "string" || !Array.isArray(params)) {
    return errorAnswer(message, rpcCodes.invalidRequest, "Invalid request");
  }
  const run = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (!run) return errorAnswer(message, rpcCodes.methodNotFound, "Method not found");
  try {
    return { jsonrpc: "2.0", id: message.id, result: await run(cluster, params, faucet) };
  } catch (error) {
    if (error instanceof RpcError) {
      return errorAnswer(message, error.code, error.message, error.data);
    }
    console.error(error);
    return errorAnswer(message, INTERNAL_ERROR, "Internal error");
  }
}

/** Numbers of 64 bits are written with all their digits, as nodes do. */
function respond(body: unknown): Response {
  const text = JSON.stringify(body, (_key, value: unknown) =>
    typeof value === "bigint" ? rawJSON(String(value)) : value,
  );
  return new Response(text, { headers: { "content-type": "application/json" } });
}

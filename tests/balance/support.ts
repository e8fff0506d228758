import { balanceRoutes, createBalanceService } from "../../src/balance/index.ts";
import { createRegistry } from "../../src/chains/index.ts";
import type { NetworkData } from "../../src/config/index.ts";
import { createUpstreamPool, createUrlGuard } from "../../src/upstream/index.ts";
import type { Resolve } from "../../src/upstream/guard.ts";
import { gated } from "../support/gated.ts";

/** An answer of the endpoint. */
export interface Answer {
  readonly status: number;
  readonly code: string | null;
  readonly body: { readonly balance?: string; readonly error?: string };
  readonly text: string;
}

/** The endpoint over the real gate, pool and guard. */
export async function balanceApp(options: {
  readonly override?: Record<string, Partial<NetworkData>>;
  readonly allowedOrigins: readonly string[];
  /** Replaces the system's resolver. */
  readonly resolve?: Resolve;
}) {
  const registry = createRegistry({ useDefaultUpstreams: false, override: options.override ?? {} });
  const { allowedOrigins, resolve } = options;
  const guard = createUrlGuard({ allowedOrigins, configuredUrls: [], ...(resolve && { resolve }) });
  const pool = createUpstreamPool({ registry, guard });
  const service = createBalanceService({ registry, pool });
  const server = await gated(
    balanceRoutes(service, { maxBodyBytes: 65_536, exampleRpcUrl: "https://node.example" }),
  );

  return {
    /** Usage entered for the key so far. */
    usage: () => server.database.usage.sums(server.keyId, 0, 10_000_000),
    async ask(body: unknown): Promise<Answer> {
      const response = await server.request("/api/public/wallet/balance", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: typeof body === "string" ? body : JSON.stringify(body),
      });
      const text = await response.text();
      const { status } = response;
      return { status, code: response.headers.get("x-error-code"), body: JSON.parse(text), text };
    },
    close() {
      pool.close();
      server.close();
    },
  };
}

/** Handler of one JSON-RPC method of a scripted node: raw JSON of `result`, or an error object. */
export type ScriptedMethod = (params: unknown[]) => string | { code: number; message: string };

/** A node whose answers are written out in the test. */
export function startNode(methods: Record<string, ScriptedMethod>) {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { id, method, params } = (await request.json()) as {
        id: number;
        method: string;
        params: unknown[];
      };
      const outcome = methods[method]?.(params) ?? { code: -32_601, message: "Method not found" };
      const rest =
        typeof outcome === "string" ? `"result":${outcome}` : `"error":${JSON.stringify(outcome)}`;
      return new Response(`{"jsonrpc":"2.0","id":${id},${rest}}`);
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

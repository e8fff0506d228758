import { Elysia } from "elysia";
import { createAccess, errorHandler, gate, type NewKey } from "../../src/access/index.ts";
import type { ChainRegistry } from "../../src/chains/index.ts";
import { type Config, loadConfig } from "../../src/config/index.ts";
import { openDatabase } from "../../src/db/index.ts";
import { createFront, type ListenAt } from "../../src/front/index.ts";
import { createRpcService, createRpcSockets, directRpc, rpcRoutes } from "../../src/rpc/index.ts";
import { createFeeds, createUpstreamPool } from "../../src/upstream/index.ts";

const log = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * The proxy behind the real gate, on a free port, over the chains of a registry.
 * @param sockets - limits of WebSocket connections that replace the defaults
 */
export async function startProxy(
  registry: ChainRegistry,
  key: Partial<NewKey> = {},
  sockets: Partial<Config["sockets"]> = {},
  tls?: ListenAt["tls"],
) {
  const config = loadConfig({});
  const database = openDatabase(":memory:");
  const access = await createAccess(database, config.access);
  const pool = createUpstreamPool({ registry });
  const { maxBatchItems } = config.access;
  const service = createRpcService({ pool, registry, maxBatchItems });
  const feeds = createFeeds({ pool, registry });
  const limits = { ...config.sockets, ...sockets };
  const connections = createRpcSockets({ service, feeds, limits, memory: pool.memory });
  const app = new Elysia({
    serve: { reusePort: false, maxRequestBodySize: 1024 ** 3 },
    websocket: { maxPayloadLength: config.http.maxBodyBytes, idleTimeout: 0, sendPings: false },
  })
    .onError(errorHandler(log))
    .use(gate(access, config))
    .use(rpcRoutes(service, connections, config.http));
  const front = createFront({
    access,
    config,
    log,
    observer: () => {},
    route: directRpc(service),
    memory: pool.memory,
    inner: app,
  });
  front.listen({ port: 0, hostname: "127.0.0.1", tls });
  const granted = { environment: "test" as const, scopes: ["read"], windowLimit: 100_000, ...key };
  const { key: made, secret } = await access.keys.create(granted, "test");
  const origin = `${tls ? "https" : "http"}://127.0.0.1:${front.port}`;

  return {
    pool,
    database,
    access,
    connections,
    front,
    /** Port of the server behind the front. */
    innerPort: app.server?.port ?? 0,
    keyId: made.id,
    secret,
    url: (chain: string | number = 1) => `${origin}/api/public/rpc/${chain}`,
    /** Posts a body as it is. */
    async post(body: string | Uint8Array<ArrayBuffer>, chain: string | number = 1) {
      const response = await fetch(`${origin}/api/public/rpc/${chain}`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": secret },
        body,
      });
      const { status, headers } = response;
      return { status, headers, text: await response.text() };
    },
    async stop() {
      await front.stop(true);
      feeds.close();
      pool.close();
      database.close();
    },
  };
}

export type Proxy = Awaited<ReturnType<typeof startProxy>>;

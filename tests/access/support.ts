import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import {
  accessRoutes,
  admitItems,
  admitted,
  createAccess,
  errorHandler,
  gate,
  type NewKey,
  setChargedChain,
} from "../../src/access/index.ts";
import { type Config, type Environment, loadConfig } from "../../src/config/index.ts";
import { type Database, openDatabase } from "../../src/db/index.ts";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import { dataResponse, jsonResponse, readJson } from "../../src/lib/http.ts";
import { UpstreamUnavailableError } from "../../src/upstream/types.ts";

/** A clock that stands still until it is moved. */
export class ManualClock implements Clock {
  constructor(private time = Date.UTC(2026, 0, 15, 12)) {}
  now = () => this.time;
  monotonic = () => this.time;
  sleep = () => Promise.resolve();
  advance(ms: number) {
    this.time += ms;
  }
}

/** A directory of its own for one test. */
export function temporaryDirectory() {
  const path = mkdtempSync(join(tmpdir(), "causeway-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

const missing = () => "Missing required fields";

/** The gate and its routes, with handlers that each end in another way, on a real socket. */
export function createTinyApp(
  access: Awaited<ReturnType<typeof createAccess>>,
  config: Config,
  onHold: () => void = () => {},
) {
  const logged: object[] = [];
  const observed: string[] = [];
  const observer = (operation: string, status: number, seconds: number) =>
    observed.push(`${operation} ${status} ${seconds >= 0}`);
  const log = { debug() {}, info() {}, warn() {}, error: (fields: object) => logged.push(fields) };
  const Body = Type.Object({ inputToken: Type.String() });
  const parse = "none" as const;
  const api = new Elysia({ name: "api" })
    .get("/api/public/prices", () => jsonResponse({ USDC: { usd: 1 } }))
    .get("/api/public/swap/dexes", () => ({ success: true, data: [] }))
    .post(
      "/api/public/swap/quote",
      async ({ request }) => {
        const body = await readJson(request, Body, { maxBytes: 1024, missing });
        setChargedChain(request, 5042);
        return dataResponse(body);
      },
      { parse },
    )
    .post(
      "/api/public/rpc/:chainId",
      async ({ request, params }) => {
        await admitItems(admitted(request), Number(request.headers.get("x-items") ?? 1));
        setChargedChain(request, Number(params.chainId));
        const outcome = request.headers.get("x-outcome");
        if (outcome === "unreachable") throw new UpstreamUnavailableError("all nodes down");
        if (outcome === "crash") throw new TypeError("secret detail");
        if (outcome === "400") return jsonResponse({ jsonrpc: "2.0" }, 400);
        if (outcome === "hold") {
          const gone = Promise.withResolvers<unknown>();
          request.signal.addEventListener("abort", gone.resolve);
          onHold();
          await gone.promise;
        }
        return jsonResponse({ jsonrpc: "2.0", result: "0x1" });
      },
      { parse },
    )
    // Deliberately not in the operations table.
    .get("/api/public/rogue", () => "open")
    .use(accessRoutes(access));
  const app = new Elysia({ serve: { reusePort: false, maxRequestBodySize: 1024 ** 3 } })
    .onError(errorHandler(log))
    .use(gate(access, config, observer))
    .use(api)
    .get("/health", () => "ok")
    .get("/console", () => "page");
  return { app, logged, observed };
}

export interface ServerOptions {
  readonly clock?: Clock;
  readonly environment?: Environment;
  readonly database?: Database;
  /** Called when a handler starts to wait for its client to go away. */
  readonly onHold?: () => void;
}

/** Starts the tiny app on a free port. */
export async function startServer(options: ServerOptions = {}) {
  const config = loadConfig(options.environment ?? {});
  const database = options.database ?? openDatabase(":memory:");
  const access = await createAccess(database, config.access, options.clock ?? systemClock);
  const { app, logged, observed } = createTinyApp(access, config, options.onHold);
  app.listen({ port: 0, hostname: "127.0.0.1" });
  const origin = `http://127.0.0.1:${app.server?.port}`;
  return {
    access,
    database,
    logged,
    observed,
    origin,
    /** Makes a key; `read` and `swaps` unless told otherwise. */
    async newKey(input: Partial<NewKey> = {}) {
      const granted = { environment: "test" as const, scopes: ["read", "swaps"], ...input };
      return access.keys.create(granted, "test");
    },
    request(path: string, key?: string, init: RequestInit = {}) {
      const headers = new Headers(init.headers);
      if (key !== undefined) headers.set("x-api-key", key);
      return fetch(origin + path, { ...init, headers });
    },
    async [Symbol.asyncDispose]() {
      await app.stop(true);
      if (!options.database) database.close();
    },
  };
}

/** What the ledger says a key was charged. */
export async function ledger(database: Database, keyId: string) {
  const rows = await database.usage.sums(keyId, 0, 10_000_000);
  return {
    requests: rows.reduce((sum, row) => sum + row.requests, 0),
    cu: rows.reduce((sum, row) => sum + row.cu, 0),
    rows,
  };
}

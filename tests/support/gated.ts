import { type AnyElysia, Elysia } from "elysia";
import { createAccess, errorHandler, gate, UNLIMITED_WINDOW } from "../../src/access/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { openDatabase } from "../../src/db/index.ts";
import { silentLogger } from "../../src/telemetry/index.ts";

/** One feature's routes behind the real gate and a database in memory, with a key that has `read`. */
export async function gated(routes: AnyElysia) {
  const config = loadConfig({});
  const database = openDatabase(":memory:");
  const access = await createAccess(database, config.access);
  const { key, secret } = await access.keys.create(
    { environment: "test", scopes: ["read"], windowLimit: UNLIMITED_WINDOW },
    "test",
  );
  const app = new Elysia()
    .onError(errorHandler(silentLogger))
    .use(gate(access, config))
    .use(routes);
  return {
    database,
    keyId: key.id,
    /** Sends a request with the key. */
    request(path: string, init: RequestInit = {}): Promise<Response> {
      const headers = new Headers(init.headers);
      headers.set("x-api-key", secret);
      return app.handle(new Request(`http://localhost${path}`, { ...init, headers }));
    },
    close: () => database.close(),
  };
}

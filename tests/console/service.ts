import { composeService } from "../../src/compose.ts";
import { type ConfigFile, type Environment, loadConfig } from "../../src/config/index.ts";
import { silentLogger } from "../../src/telemetry/index.ts";
import { Visitor } from "./session.ts";

export const ADMIN_TOKEN = "test-admin-token";

/** The service without any chain: enough for keys, accounts and sessions. */
export async function startConsoleService(
  file: ConfigFile["console"] = { signUp: "open" },
  env: Environment = {},
) {
  const config = loadConfig(
    { DATABASE_URL: ":memory:", ADMIN_TOKEN, CAUSEWAY_CONFIG: "test.json", ...env },
    () => JSON.stringify({ networks: { useDefaultUpstreams: false }, console: file }),
  );
  const service = await composeService(config, silentLogger, () => true);
  service.front.listen({ hostname: "127.0.0.1", port: 0 });
  const origin = `http://127.0.0.1:${service.front.port}`;
  return {
    ...service,
    origin,
    visitor: () => new Visitor(origin),
    async [Symbol.asyncDispose]() {
      await service.front.stop(true);
      await service.close();
    },
  };
}

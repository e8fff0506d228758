import type { KeyEnvironment, NewKey } from "../../src/access/index.ts";
import { composeService } from "../../src/compose.ts";
import { loadConfig } from "../../src/config/index.ts";
import { serviceConfig, type ServedChain } from "../../src/sandbox/configFile.ts";
import type { Feed } from "../../src/sandbox/feeds.ts";
import type { AttestationService } from "../../src/sandbox/cctp/service.ts";
import { writeOperatorKey } from "../../src/sandbox/start.ts";
import { silentLogger } from "../../src/telemetry/index.ts";
import { temporaryDirectory } from "../support/sandbox.ts";

/** The whole service in this process, on a real socket and a database of its own. */
export async function startLocalService(
  chains: readonly ServedChain[],
  feeds: readonly Feed[] = [],
  attestation?: AttestationService,
  databaseUrl = ":memory:",
) {
  const env = {
    DATABASE_URL: databaseUrl,
    CAUSEWAY_CONFIG: "test.json",
    ADMIN_TOKEN: "test-admin-token",
    ...(attestation && { OPERATOR_KEY_FILE: writeOperatorKey(temporaryDirectory()) }),
  };
  const config = loadConfig(env, () =>
    JSON.stringify(serviceConfig(chains, feeds, undefined, attestation?.urls)),
  );
  const service = await composeService(config, silentLogger, () => true);
  service.front.listen({ hostname: "127.0.0.1", port: 0 });
  service.bridge.start();
  const origin = `http://127.0.0.1:${service.front.port}`;
  return {
    ...service,
    origin,
    base: `${origin}/api/public`,
    /** Makes a key with the given grants and gives its id and secret. */
    async key(grants: Partial<NewKey> & { environment?: KeyEnvironment } = {}) {
      const { key, secret } = await service.access.keys.create(
        { environment: "test", scopes: ["read", "swaps", "bridges", "quotes"], ...grants },
        "test",
      );
      return { id: key.id, secret };
    },
    async stop() {
      await service.front.stop(true);
      await service.bridge.stop();
      service.close();
    },
  };
}

export type LocalService = Awaited<ReturnType<typeof startLocalService>>;

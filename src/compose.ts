import { type Access, createAccess, isAdminToken, settleAdminToken } from "./access/index.ts";
import { createApp } from "./app.ts";
import { createBalanceService } from "./balance/index.ts";
import { createBridge } from "./bridge/index.ts";
import { createRegistry } from "./chains/index.ts";
import type { Config } from "./config/index.ts";
import { openDatabase } from "./db/index.ts";
import { systemClock } from "./lib/clock.ts";
import { createPricesService, type PricesService } from "./prices/index.ts";
import { createRpcService } from "./rpc/index.ts";
import { createSwapService } from "./swap/index.ts";
import { createMetrics, type Logger, observeUpstreams } from "./telemetry/index.ts";
import { createUpstreamPool, createUrlGuard, type UpstreamPool } from "./upstream/index.ts";

/** A service that is built and not yet listening. */
export interface Service {
  readonly app: ReturnType<typeof createApp>;
  readonly access: Access;
  readonly pool: UpstreamPool;
  readonly prices: PricesService;
  /** The operator token, when it was made now; it is shown this once. */
  readonly madeAdminToken: string | undefined;
  /** Closes connections and the database. */
  close(): void;
}

/**
 * Builds every part from the configuration. Opens the database; listens and polls nothing yet.
 * @param isReady - answers GET /ready; false while the process drains
 * @throws ConfigError when the configuration cannot be served
 */
export async function composeService(
  config: Config,
  log: Logger,
  isReady: () => boolean,
): Promise<Service> {
  const registry = createRegistry(config.networks);
  const database = openDatabase(config.database.url);
  const metrics = createMetrics();
  const access = await createAccess(database, config.access);
  const guard = createUrlGuard({
    allowedOrigins: config.balance.allowedOrigins,
    configuredUrls: registry.all.flatMap((chain) => chain.upstreams.map(({ url }) => url)),
  });
  const pool = createUpstreamPool({
    registry,
    guard,
    observer: observeUpstreams(metrics, log, () => pool.status()),
  });
  const prices = createPricesService({ config: config.prices, clock: systemClock, log });
  const app = createApp({
    config,
    log,
    metrics,
    access,
    swap: createSwapService({ registry, upstream: pool, config: config.swap, clock: systemClock }),
    rpc: createRpcService({ pool, registry, maxBatchItems: config.access.maxBatchItems }),
    bridge: createBridge({ chains: registry }),
    prices,
    balance: createBalanceService({ registry, pool }),
    console: {
      isAdminToken: (presented) => isAdminToken(database.settings, presented),
      upstreams: pool.status,
    },
    ready: isReady,
  });
  return {
    app,
    access,
    pool,
    prices,
    madeAdminToken: await settleAdminToken(database.settings, config.adminToken),
    close() {
      pool.close();
      database.close();
    },
  };
}

import { type Access, createAccess, isAdminToken, settleAdminToken } from "./access/index.ts";
import { createApp } from "./app.ts";
import { createBalanceService } from "./balance/index.ts";
import { type BridgeService, createBridge } from "./bridge/index.ts";
import { createRegistry } from "./chains/index.ts";
import type { Config } from "./config/index.ts";
import { createUpstreamAdmin, readChanges } from "./console/index.ts";
import { openDatabase } from "./db/index.ts";
import { systemClock } from "./lib/clock.ts";
import { createMarket } from "./market/index.ts";
import { createPricesService, type PricesService } from "./prices/index.ts";
import { createRpcService, createRpcSockets } from "./rpc/index.ts";
import { createMarketReader, createQuoteAuditor, createSwapService } from "./swap/index.ts";
import {
  createMetrics,
  type Logger,
  observeMarket,
  observePrices,
  observeSockets,
  observeUpstreams,
} from "./telemetry/index.ts";
import {
  applyChanges,
  createFeeds,
  createUpstreamPool,
  createUrlGuard,
  type UpstreamPool,
} from "./upstream/index.ts";

/** A service that is built and not yet listening. */
export interface Service {
  readonly app: ReturnType<typeof createApp>;
  readonly access: Access;
  readonly pool: UpstreamPool;
  readonly prices: PricesService;
  readonly bridge: BridgeService;
  /** The operator token, when it was made now; it is shown this once. */
  readonly madeAdminToken: string | undefined;
  /** Ends what would keep the server from stopping: the open sockets. */
  drain(): void;
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
  const configured = createRegistry(config.networks);
  const database = openDatabase(config.database.url);
  const metrics = createMetrics();
  const access = await createAccess(database, config.access);
  const changes = await readChanges(database.upstreamChanges, access.sealer, (id) =>
    log.warn({ upstream: id }, "an added upstream cannot be decrypted and is left out"),
  );
  const registry = applyChanges(configured, changes);
  const guard = createUrlGuard({
    allowedOrigins: config.balance.allowedOrigins,
    configuredUrls: registry.all.flatMap((chain) => chain.upstreams.map(({ url }) => url)),
  });
  const pool = createUpstreamPool({
    registry,
    guard,
    logCaps: database.logCaps,
    ...config.upstream,
    observer: observeUpstreams(metrics, log, {
      status: () => pool.status(),
      memory: () => pool.memory,
    }),
  });
  const prices = createPricesService({
    config: config.prices,
    clock: systemClock,
    log,
    registry,
    pool,
  });
  observePrices(metrics, prices.status, systemClock.now);
  const feeds = createFeeds({ pool, registry });
  const rpc = createRpcService({
    pool,
    registry,
    maxBatchItems: config.access.maxBatchItems,
    methods: config.rpc,
  });
  const rpcSockets = createRpcSockets({
    service: rpc,
    feeds,
    limits: config.sockets,
    memory: pool.memory,
  });
  observeSockets(metrics, rpcSockets.counts);
  const bridge = createBridge({
    chains: registry,
    upstream: pool,
    store: database.bridge,
    config: config.bridge,
    log,
    metrics,
  });
  const marketObserver = observeMarket(metrics, log, () => market.status());
  const market = createMarket({
    registry,
    reader: createMarketReader(pool),
    clock: systemClock,
    observer: marketObserver,
    maxAgeMs: config.swap.maxStateAgeMs,
  });
  const auditor = createQuoteAuditor({
    upstream: pool,
    market,
    share: config.swap.auditShare,
    random: Math.random,
    observer: marketObserver,
  });
  const app = createApp({
    config,
    log,
    metrics,
    access,
    swap: createSwapService({
      registry,
      upstream: pool,
      market,
      config: config.swap,
      clock: systemClock,
      auditor,
    }),
    rpc,
    rpcSockets,
    bridge,
    prices,
    balance: createBalanceService({ registry, pool }),
    console: {
      isAdminToken: (presented) => isAdminToken(database.settings, presented),
      prices: prices.status,
      upstreams: createUpstreamAdmin({
        pool,
        registry: configured,
        changes: database.upstreamChanges,
        sealer: access.sealer,
        audit: database.audit,
        clock: systemClock,
      }),
    },
    ready: isReady,
  });
  return {
    app,
    access,
    pool,
    prices,
    bridge,
    madeAdminToken: await settleAdminToken(database.settings, config.adminToken),
    drain: () => rpcSockets.close(),
    close() {
      feeds.close();
      void auditor.stop();
      void market.stop();
      pool.close();
      database.close();
    },
  };
}

import { type Access, createAccess } from "./access/index.ts";
import { createApp } from "./app.ts";
import { createBalanceService } from "./balance/index.ts";
import { type BridgeService, createBridge, createBridgeAdmin } from "./bridge/index.ts";
import { createLiveRegistry, createRegistry } from "./chains/index.ts";
import { type Config, loadConfig } from "./config/index.ts";
import { createLiveConfig } from "./config/live.ts";
import { createConsole, createUpstreamAdmin, readChanges } from "./console/index.ts";
import { openDatabase } from "./db/index.ts";
import { createFront, type Front } from "./front/index.ts";
import { systemClock } from "./lib/clock.ts";
import { createMarket } from "./market/index.ts";
import { createPricesService, type PricesService } from "./prices/index.ts";
import { createReloader } from "./reload.ts";
import { joinReplicas, type Replicas } from "./replicas.ts";
import { createRpcService, createRpcSockets, directRpc } from "./rpc/index.ts";
import { createMarketReader, createQuoteAuditor, createSwapService } from "./swap/index.ts";
import {
  createMetrics,
  type Logger,
  observeMarket,
  observePrices,
  observeReloads,
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
  /** Its listener. */
  readonly front: Front;
  readonly access: Access;
  readonly pool: UpstreamPool;
  readonly prices: PricesService;
  readonly bridge: BridgeService;
  readonly replicas: Replicas;
  /** Applies the configuration as it is now: upstreams, venues and limits. */
  reload(): Promise<void>;
  /** The operator token, when it was made now; it is shown this once. */
  readonly madeAdminToken: string | undefined;
  /** Ends the open sockets, which would keep the server from stopping. */
  closeSockets(): void;
  /** Closes connections and the database. */
  close(): Promise<void>;
}

/**
 * Builds every part from the configuration. Opens the database; listens and polls nothing yet.
 * @param isReady - answers GET /ready; false while the process drains
 * @param load - reads the configuration anew, for a reload
 * @throws ConfigError when the configuration cannot be served
 */
export async function composeService(
  initial: Config,
  log: Logger,
  isReady: () => boolean,
  load: () => Config = loadConfig,
): Promise<Service> {
  const live = createLiveConfig(initial);
  const { config } = live;
  const configured = createLiveRegistry(createRegistry(config.networks));
  const database = await openDatabase(config.database.url);
  const metrics = createMetrics();
  const replicas = await joinReplicas({
    config,
    database,
    metrics,
    log,
    onConfig: () => void reload(),
    onLook: async () => {
      if (database.peers.standing().count > 1) await access.meter.giveBack();
    },
  });
  const access = await createAccess(database, config.access, systemClock, replicas.window);
  const changes = () =>
    readChanges(database.upstreamChanges, access.sealer, (id) =>
      log.warn({ upstream: id }, "an added upstream cannot be decrypted and is left out"),
    );
  const registry = createLiveRegistry(applyChanges(configured, await changes()));
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
    seenHead: (chainId) => pool.head(chainId),
    observer: marketObserver,
    maxAgeMs: config.swap.maxStateAgeMs,
  });
  const reload = createReloader({
    load,
    live,
    configured,
    registry,
    readChanges: changes,
    pool,
    market,
    log,
    onOutcome: observeReloads(metrics),
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
    console: createConsole({
      config,
      database,
      access,
      registry,
      pool,
      prices: prices.status,
      transfers: createBridgeAdmin(database.bridge, systemClock),
      isAdminToken: access.adminToken.matches,
      adminCredential: access.adminToken.credential,
      upstreams: createUpstreamAdmin({
        pool,
        registry: configured,
        changes: database.upstreamChanges,
        sealer: access.sealer,
        audit: database.audit,
        clock: systemClock,
      }),
    }),
    ready: isReady,
  });
  const front = createFront({
    access,
    config,
    log,
    observer: metrics.request,
    route: directRpc(rpc),
    memory: pool.memory,
    inner: app,
  });
  return {
    app,
    front,
    access,
    pool,
    prices,
    bridge,
    replicas,
    reload,
    madeAdminToken: await access.adminToken.settle(config.adminToken),
    closeSockets: () => rpcSockets.close(),
    async close() {
      replicas.close();
      feeds.close();
      void auditor.stop();
      void market.stop();
      pool.close();
      await access.activity.flush();
      database.close();
    },
  };
}

import { createRedisWindow, type RateWindow } from "./access/index.ts";
import type { Config } from "./config/index.ts";
import { createChangeBus, createPeerWatch, createRedisLink, type Database } from "./db/index.ts";
import { systemClock } from "./lib/clock.ts";
import { type Logger, type Metrics, observeReplicas } from "./telemetry/index.ts";

export interface ReplicasDependencies {
  readonly config: Pick<Config, "redis" | "access">;
  readonly database: Pick<Database, "peers">;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Called after any process changed what is configured at run time. */
  readonly onConfig: () => void;
  /** Called about twice a second. */
  readonly onLook: () => Promise<void>;
}

/** What makes several processes act as one service. */
export interface Replicas {
  /** Rate windows over all replicas; undefined without Redis. */
  readonly window: RateWindow | undefined;
  /** Begins to notice what others change. */
  start(): Promise<void>;
  close(): void;
}

/** Joins the replicas on the database; with Redis they share windows and hear of changes at once. */
export async function joinReplicas(dependencies: ReplicasDependencies): Promise<Replicas> {
  const { config, database, metrics, log, onConfig, onLook } = dependencies;
  const { peers } = database;
  await peers.join();
  const link =
    config.redis &&
    createRedisLink({
      url: config.redis.url,
      onChange: (isUp) => {
        if (isUp) void window?.resume();
      },
    });
  const observer = observeReplicas(metrics, log, {
    isRedisUp: () => link?.isUp ?? false,
    count: () => peers.standing().count,
  });
  const window =
    link &&
    createRedisWindow({
      link,
      standing: () => peers.standing(),
      windowMs: config.access.windowMs,
      clock: systemClock,
      observer,
    });
  const watch = createPeerWatch({ peers, onConfig, onLook, onHealth: observer.onHealth });
  const bus =
    link &&
    createChangeBus({ url: config.redis?.url ?? "", sender: link, onChange: () => watch.poke() });
  if (bus) peers.onChange(() => bus.announce());
  await link?.start();
  return {
    window,
    async start() {
      watch.start();
      await bus?.start();
    },
    close() {
      watch.stop();
      bus?.close();
      link?.close();
    },
  };
}

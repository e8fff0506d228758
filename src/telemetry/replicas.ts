import { Counter } from "prom-client";
import type { Logger } from "./logger.ts";
import { liveGauge, type Metrics } from "./metrics.ts";

/** What is read when metrics are scraped. */
export interface ReplicasLive {
  /** Whether commands reach Redis. */
  isRedisUp(): boolean;
  /** Replicas on the database, as this one sees them. */
  count(): number;
}

/** Metrics and log lines of what replicas share. */
export function observeReplicas({ registry }: Metrics, log: Logger, live: ReplicasLive) {
  const localTakes = new Counter({
    name: "causeway_window_local_decisions_total",
    help: "Rate window decisions made for this replica's share alone, without Redis.",
    registers: [registry],
  });
  const switches = new Counter({
    name: "causeway_window_switches_total",
    help: "Times rate windows went from shared to local or back.",
    labelNames: ["to"],
    registers: [registry],
  });
  const gauge = (name: string, help: string, read: () => number) =>
    liveGauge(registry, { name, help, labelNames: [] }, () => [{ labels: {}, value: read() }]);
  gauge("causeway_redis_up", "1 while Redis answers.", () => (live.isRedisUp() ? 1 : 0));
  gauge("causeway_replicas", "Replicas on the database.", live.count);

  return {
    onLocal: () => localTakes.inc(),
    onShared(isShared: boolean, reason: string) {
      switches.inc({ to: isShared ? "shared" : "local" });
      if (isShared) log.info({ reason }, "rate windows are shared by all replicas");
      else log.warn({ reason }, "rate windows are decided by each replica for its share");
    },
    onHealth(error: unknown) {
      if (error === undefined) log.info({}, "the database answers again");
      else log.error({ error }, "changes of other replicas cannot be seen");
    },
  };
}

/** Counts reloads of the configuration by how they ended. */
export function observeReloads({ registry }: Metrics): (outcome: string) => void {
  const reloads = new Counter({
    name: "causeway_config_reloads_total",
    help: "Times the configuration was read anew, by how that ended.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  return (outcome) => reloads.inc({ outcome });
}

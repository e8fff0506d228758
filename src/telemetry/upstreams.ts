import { Counter, Histogram } from "prom-client";
import type { Logger } from "./logger.ts";
import { type GaugeRow, liveGauge, type Metrics } from "./metrics.ts";

/** One upstream's state, as far as metrics need it. */
interface UpstreamRow {
  readonly chainId: number;
  readonly name: string;
  readonly state: string;
  readonly costMs: number;
  readonly inFlight: number;
  readonly head: number | undefined;
}

const LATENCY_BUCKETS_SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
];

/**
 * Metrics and log lines of the upstream pool. Upstreams are named by host; URLs never reach here.
 * @param status - the pool's live state, read when metrics are scraped
 */
export function observeUpstreams(
  metrics: Metrics,
  log: Logger,
  status: () => readonly UpstreamRow[],
) {
  const { registry } = metrics;
  const attempts = new Counter({
    name: "causeway_upstream_attempts_total",
    help: "Requests sent to upstream nodes, by how they ended.",
    labelNames: ["chain", "upstream", "outcome"],
    registers: [registry],
  });
  const latency = new Histogram({
    name: "causeway_upstream_attempt_duration_seconds",
    help: "Time an upstream node took to answer.",
    labelNames: ["chain", "upstream"],
    buckets: LATENCY_BUCKETS_SECONDS,
    registers: [registry],
  });
  const calls = new Counter({
    name: "causeway_upstream_calls_total",
    help: "Calls through the pool, by method class and how they ended.",
    labelNames: ["chain", "class", "outcome"],
    registers: [registry],
  });
  const gauge = (name: string, help: string, value: (row: UpstreamRow) => number | undefined) =>
    liveGauge(registry, { name, help, labelNames: ["chain", "upstream"] }, () =>
      status().flatMap((row): GaugeRow[] => {
        const current = value(row);
        const labels = { chain: String(row.chainId), upstream: row.name };
        return current === undefined ? [] : [{ labels, value: current }];
      }),
    );
  gauge("causeway_upstream_cost_ms", "Expected cost of the next request.", (row) => row.costMs);
  gauge("causeway_upstream_in_flight", "Requests under way.", (row) => row.inFlight);
  gauge("causeway_upstream_head", "Highest block the upstream has shown.", (row) => row.head);
  gauge("causeway_upstream_active", "1 while the upstream is used.", (row) =>
    row.state === "active" ? 1 : 0,
  );

  return {
    attempt(event: { chainId: number; upstream: string; outcome: string; latencyMs: number }) {
      const labels = { chain: String(event.chainId), upstream: event.upstream };
      attempts.inc({ ...labels, outcome: event.outcome });
      latency.observe(labels, event.latencyMs / 1_000);
    },
    call(event: { chainId: number; kind: string; outcome: string }) {
      calls.inc({ chain: String(event.chainId), class: event.kind, outcome: event.outcome });
    },
    state(event: { chainId: number; upstream: string; state: string }) {
      const write = event.state === "active" ? log.info : log.warn;
      write.call(log, { ...event }, "upstream state changed");
    },
  };
}

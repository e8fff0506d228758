import type { Logger } from "./logger.ts";
import { type GaugeRow, liveGauge, type Metrics } from "./metrics.ts";
import { TallyCounter, TallyHistogram } from "./tally.ts";

/** One upstream's state, as far as metrics need it. */
interface UpstreamRow {
  readonly chainId: number;
  readonly name: string;
  readonly state: string;
  readonly costMs: number;
  readonly parts: {
    readonly latencyMs: number;
    readonly errorMs: number;
    readonly queueMs: number;
    readonly lagMs: number;
  };
  readonly errorRate: number;
  readonly inFlight: number;
  readonly maxConcurrent: number;
  readonly pace: {
    readonly declaredPerSecond: number | undefined;
    readonly learnedPerSecond: number | undefined;
    readonly heldMs: number;
    readonly refusals: number;
  };
  readonly head: number | undefined;
}

/** What is read when metrics are scraped. */
export interface UpstreamLive {
  status(): readonly UpstreamRow[];
  /** Bytes of answers on their way from nodes to callers, and their bound. */
  memory(): { readonly usedBytes: number; readonly maxBytes: number };
}

interface CallEvent {
  readonly chainId: number;
  readonly kind: string;
  readonly outcome: string;
  readonly attempts: number;
  readonly hedged: boolean;
  readonly durationMs: number;
}

const LATENCY_BUCKETS_SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
];

/**
 * Metrics and log lines of the upstream pool. Upstreams are named by host; URLs never reach here.
 */
export function observeUpstreams(metrics: Metrics, log: Logger, live: UpstreamLive) {
  const { registry } = metrics;
  const counter = (name: string, help: string, labelNames: readonly string[]) =>
    new TallyCounter(registry, { name: `causeway_upstream_${name}`, help, labelNames });
  const histogram = (name: string, help: string, labelNames: readonly string[]) => {
    const names = { name: `causeway_upstream_${name}`, help, labelNames };
    return new TallyHistogram(registry, names, LATENCY_BUCKETS_SECONDS);
  };

  const attempts = counter(
    "attempts_total",
    "Requests sent to upstream nodes, by how they ended.",
    ["chain", "upstream", "class", "outcome"],
  );
  const latency = histogram(
    "attempt_duration_seconds",
    "Time an upstream node took to answer, or until it was given up.",
    ["chain", "upstream"],
  );
  const calls = counter("calls_total", "Calls through the pool, by class and how they ended.", [
    "chain",
    "class",
    "outcome",
  ]);
  const callTime = histogram("call_duration_seconds", "Time of a call over all its attempts.", [
    "chain",
    "class",
  ]);
  const retries = counter("retries_total", "Requests sent because an earlier one failed.", [
    "chain",
    "class",
  ]);
  const hedges = counter(
    "hedges_total",
    "Calls sent to a second node because the first was slow.",
    ["chain", "class"],
  );
  const changes = counter("state_changes_total", "Upstreams taken into use and out of it.", [
    "chain",
    "upstream",
    "state",
  ]);
  const reads = counter(
    "reads_total",
    "Reads by where the answer came from, and whether their block references are understood.",
    ["chain", "source", "known"],
  );
  registerGauges(registry, live);

  return {
    attempt(event: {
      chainId: number;
      upstream: string;
      kind: string;
      outcome: string;
      latencyMs: number;
    }) {
      const { chainId, kind, outcome, upstream } = event;
      attempts.at(chainId, upstream, kind, outcome).add();
      latency.at(chainId, upstream).observe(event.latencyMs / 1_000);
    },
    call({ chainId, kind, outcome, attempts: sent, hedged, durationMs }: CallEvent) {
      calls.at(chainId, kind, outcome).add();
      callTime.at(chainId, kind).observe(durationMs / 1_000);
      const retried = sent - 1 - (hedged ? 1 : 0);
      // A broadcast asks several nodes from the start; those are no retries.
      if (kind !== "broadcast" && retried > 0) retries.at(chainId, kind).add(retried);
      if (hedged) hedges.at(chainId, kind).add();
    },
    read(event: { chainId: number; source: string; isKnown: boolean }) {
      reads.at(event.chainId, event.source, event.isKnown ? "yes" : "no").add();
    },
    state(event: {
      chainId: number;
      upstream: string;
      state: string;
      reason?: string | undefined;
    }) {
      const { chainId, state, upstream } = event;
      changes.at(chainId, upstream, state).add();
      const write = state === "active" ? log.info : log.warn;
      write.call(log, { ...event }, "upstream state changed");
    },
  };
}

function registerGauges(registry: Metrics["registry"], live: UpstreamLive): void {
  const rows = (extra: readonly string[], read: (row: UpstreamRow) => readonly GaugeRow[]) => ({
    labelNames: ["chain", "upstream", ...extra],
    collect: () =>
      live.status().flatMap((row) =>
        read(row).map(({ labels, value }) => ({
          labels: { chain: String(row.chainId), upstream: row.name, ...labels },
          value,
        })),
      ),
  });
  const gauge = (name: string, help: string, value: (row: UpstreamRow) => number | undefined) => {
    const { labelNames, collect } = rows([], (row) => {
      const current = value(row);
      return current === undefined ? [] : [{ labels: {}, value: current }];
    });
    liveGauge(registry, { name: `causeway_upstream_${name}`, help, labelNames }, collect);
  };

  gauge("cost_ms", "Expected cost of the next read.", (row) => row.costMs);
  gauge("error_rate", "Share of reads without a usable answer.", (row) => row.errorRate);
  gauge("in_flight", "Requests under way.", (row) => row.inFlight);
  gauge("max_concurrent", "Most requests under way at once.", (row) => row.maxConcurrent);
  gauge("head", "Highest block the upstream has shown.", (row) => row.head);
  gauge("active", "1 while the upstream is used.", (row) => (row.state === "active" ? 1 : 0));
  gauge(
    "declared_per_second",
    "Declared rate of its account.",
    (row) => row.pace.declaredPerSecond,
  );
  gauge(
    "learned_per_second",
    "Rate its account was seen to accept; none before a refusal.",
    (row) => row.pace.learnedPerSecond,
  );
  gauge("held_seconds", "Time for which it is sent nothing.", (row) => row.pace.heldMs / 1_000);
  gauge("refusals", "Refusals for pace since start.", (row) => row.pace.refusals);

  const parts = rows(["part"], ({ parts: { latencyMs, errorMs, queueMs, lagMs } }) => [
    { labels: { part: "latency" }, value: latencyMs },
    { labels: { part: "error" }, value: errorMs },
    { labels: { part: "queue" }, value: queueMs },
    { labels: { part: "lag" }, value: lagMs },
  ]);
  const partNames = { name: "causeway_upstream_cost_part_ms", help: "Parts of the expected cost." };
  liveGauge(registry, { ...partNames, labelNames: parts.labelNames }, parts.collect);
  const states = rows(["state"], ({ state }) => [{ labels: { state }, value: 1 }]);
  const stateNames = { name: "causeway_upstream_state", help: "1 for the state it is in." };
  liveGauge(registry, { ...stateNames, labelNames: states.labelNames }, states.collect);
  liveGauge(
    registry,
    {
      name: "causeway_upstream_buffered_bytes",
      help: "Bytes of large answers on their way to callers, and their bound.",
      labelNames: ["kind"],
    },
    () => [
      { labels: { kind: "used" }, value: live.memory().usedBytes },
      { labels: { kind: "bound" }, value: live.memory().maxBytes },
    ],
  );
}

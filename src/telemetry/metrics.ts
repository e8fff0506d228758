import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { TallyCounter, TallyHistogram } from "./tally.ts";

/** The process's Prometheus metrics. Labels are drawn from fixed sets, so cardinality is bounded. */
export interface Metrics {
  /** One finished HTTP request. `operation` is an id of the operations table, or `other`. */
  request(operation: string, status: number, seconds: number): void;
  /** Text for GET /metrics. */
  render(): Promise<string>;
  readonly contentType: string;
  /** For other modules' own metrics. */
  readonly registry: Registry;
}

const LATENCY_BUCKETS_SECONDS = [
  0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];

/** A fresh registry with the process's default metrics. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new TallyCounter(registry, {
    name: "causeway_http_requests_total",
    help: "HTTP requests answered, by operation and status.",
    labelNames: ["operation", "status"],
  });
  const duration = new TallyHistogram(
    registry,
    {
      name: "causeway_http_request_duration_seconds",
      help: "Time from request to answer, by operation.",
      labelNames: ["operation"],
    },
    LATENCY_BUCKETS_SECONDS,
  );
  return {
    registry,
    contentType: registry.contentType,
    request(operation, status, seconds) {
      requests.at(operation, status).add();
      duration.at(operation).observe(seconds);
    },
    render: () => registry.metrics(),
  };
}

/** One row of a gauge that is read from live state when scraped. */
export interface GaugeRow {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Registers a gauge whose rows are collected at scrape time. */
export function liveGauge(
  registry: Registry,
  gauge: { name: string; help: string; labelNames: readonly string[] },
  collect: () => Iterable<GaugeRow>,
): void {
  const metric = new Gauge({
    name: gauge.name,
    help: gauge.help,
    labelNames: gauge.labelNames,
    registers: [],
    collect() {
      this.reset();
      for (const row of collect()) this.set(row.labels, row.value);
    },
  });
  registry.registerMetric(metric);
}

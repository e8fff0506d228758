import { type GaugeRow, liveGauge, type Metrics } from "./metrics.ts";

/** How the prices stand, as far as metrics need it. */
interface PricesView {
  readonly assets: readonly {
    readonly symbol: string;
    readonly usd: number;
    readonly spreadBps: number;
    readonly asOfMs: number;
    readonly sourceIds: readonly string[];
  }[];
  readonly sources: readonly {
    readonly id: string;
    readonly state: string;
    readonly answers: number;
    readonly failures: number;
  }[];
}

/**
 * Metrics of the price sources.
 * @param status - live state, read when metrics are scraped
 * @param now - wall-clock time, ms
 */
export function observePrices(metrics: Metrics, status: () => PricesView, now: () => number): void {
  const asset = (
    name: string,
    help: string,
    value: (row: PricesView["assets"][number]) => number,
  ) =>
    liveGauge(metrics.registry, { name, help, labelNames: ["asset"] }, () =>
      status().assets.map((row): GaugeRow => ({
        labels: { asset: row.symbol },
        value: value(row),
      })),
    );
  const source = (
    name: string,
    help: string,
    value: (row: PricesView["sources"][number]) => number,
  ) =>
    liveGauge(metrics.registry, { name, help, labelNames: ["source"] }, () =>
      status().sources.map((row): GaugeRow => ({ labels: { source: row.id }, value: value(row) })),
    );
  asset("causeway_price_usd", "Spot price last settled.", (row) => row.usd);
  asset(
    "causeway_price_spread_bps",
    "Distance between the highest and the lowest fresh reading of the last round.",
    (row) => row.spreadBps,
  );
  asset(
    "causeway_price_sources",
    "Sources behind the price last settled.",
    (row) => row.sourceIds.length,
  );
  asset("causeway_price_age_seconds", "Age of the oldest reading behind the price.", (row) =>
    Math.max(0, (now() - row.asOfMs) / 1_000),
  );
  source("causeway_price_source_up", "1 while the source answers.", (row) =>
    row.state === "answering" ? 1 : 0,
  );
  source(
    "causeway_price_source_answers",
    "Rounds the source gave a price in.",
    (row) => row.answers,
  );
  source(
    "causeway_price_source_failures",
    "Rounds in which a question to the source failed.",
    (row) => row.failures,
  );
}

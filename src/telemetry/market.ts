import { Counter, Histogram } from "prom-client";
import type { Logger } from "./logger.ts";
import { type GaugeRow, liveGauge, type Metrics } from "./metrics.ts";

/** One chain's part of the market, as far as metrics need it. */
interface MarketRow {
  readonly chainId: number;
  readonly isFollowing: boolean;
  readonly blockNumber: bigint | undefined;
  readonly ageMs: number;
  readonly known: number;
  readonly quotable: number;
  readonly waiting: number;
}

/** A pool in memory that pays something else than the chain. */
interface Difference {
  readonly chainId: number;
  readonly blockNumber: bigint;
  readonly dexId: string;
  readonly pool: string;
  readonly tokenIn: string;
  readonly amountIn: bigint;
  readonly quotedOut: bigint;
  readonly onChainOut: bigint | undefined;
}

const BLOCK_AGE_BUCKETS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30];

/**
 * Metrics and log lines of the market's memory and of the audit of its quotes.
 * @param status - live state, read when metrics are scraped
 */
export function observeMarket(metrics: Metrics, log: Logger, status: () => readonly MarketRow[]) {
  const { registry } = metrics;
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name: `causeway_market_${name}_total`, help, labelNames, registers: [registry] });
  const folds = counter("folds", "Blocks the state was carried to.", ["chain"]);
  const logs = counter("logs", "Logs of pools that were folded into the state.", ["chain"]);
  const reorgs = counter("reorgs", "Times blocks were replaced and undone.", ["chain"]);
  const undone = counter("undone_blocks", "Blocks that were undone.", ["chain"]);
  const resets = counter("resets", "Times all pools were loaded anew.", ["chain"]);
  const pools = counter("pool_loads", "Pools taken into use, and pools taken out of it.", [
    "chain",
    "outcome",
  ]);
  const failures = counter("failures", "Steps that failed as a whole.", ["chain", "step"]);
  const audits = counter("audits", "Quotes compared with the chain, by how that ended.", [
    "chain",
    "outcome",
  ]);
  const blockAge = new Histogram({
    name: "causeway_market_block_age_seconds",
    help: "Age of a block when its state was ready, by the wall clock.",
    labelNames: ["chain"],
    buckets: BLOCK_AGE_BUCKETS_SECONDS,
    registers: [registry],
  });
  registerGauges(registry, status);
  /** Steps that failed last time; each is logged when it begins to fail. */
  const failing = new Set<string>();

  return {
    block(event: { chainId: number; logs: number; ageMs: number }) {
      const chain = String(event.chainId);
      folds.inc({ chain });
      logs.inc({ chain }, event.logs);
      blockAge.observe({ chain }, Math.max(0, event.ageMs) / 1_000);
      for (const step of failing) if (step.startsWith(`${chain} `)) failing.delete(step);
    },
    reorg(event: { chainId: number; undoneBlocks: number }) {
      const chain = String(event.chainId);
      reorgs.inc({ chain });
      undone.inc({ chain }, event.undoneBlocks);
      log.warn({ ...event }, "blocks were replaced");
    },
    reset(event: { chainId: number; reason: string }) {
      resets.inc({ chain: String(event.chainId) });
      log.warn({ ...event }, "all pools are loaded anew");
    },
    pool(event: {
      chainId: number;
      pool: string;
      state: "loaded" | "failed";
      reason?: string | undefined;
    }) {
      pools.inc({ chain: String(event.chainId), outcome: event.state });
      if (event.state === "failed") log.warn({ ...event }, "a pool is not quoted until reloaded");
    },
    failure(event: { chainId: number; step: string; error: unknown }) {
      const { step } = event;
      const chain = String(event.chainId);
      failures.inc({ chain, step });
      if (failing.has(`${chain} ${step}`)) return;
      failing.add(`${chain} ${step}`);
      log.warn({ ...event }, "the market cannot be kept up to date");
    },
    audit(event: { chainId: number; outcome: string }) {
      audits.inc({ chain: String(event.chainId), outcome: event.outcome });
    },
    difference({ blockNumber, amountIn, quotedOut, onChainOut, ...rest }: Difference) {
      const amounts = {
        blockNumber: Number(blockNumber),
        amountIn: String(amountIn),
        quotedOut: String(quotedOut),
        onChainOut: onChainOut === undefined ? "reverted" : String(onChainOut),
      };
      log.error({ ...rest, ...amounts }, "a quoted pool differs from the chain");
    },
  };
}

function registerGauges(registry: Metrics["registry"], status: () => readonly MarketRow[]): void {
  const gauge = (name: string, help: string, value: (row: MarketRow) => number | undefined) =>
    liveGauge(registry, { name: `causeway_market_${name}`, help, labelNames: ["chain"] }, () =>
      status().flatMap((row): GaugeRow[] => {
        const current = value(row);
        if (current === undefined || !Number.isFinite(current)) return [];
        return [{ labels: { chain: String(row.chainId) }, value: current }];
      }),
    );
  gauge("block", "Block the state is of.", ({ blockNumber }) =>
    blockNumber === undefined ? undefined : Number(blockNumber),
  );
  gauge(
    "age_seconds",
    "Time since a node was last asked and had nothing newer.",
    ({ ageMs }) => ageMs / 1_000,
  );
  gauge("following", "1 while the chain is followed.", (row) => (row.isFollowing ? 1 : 0));
  gauge("pools_known", "Pools known to exist.", (row) => row.known);
  gauge("pools_quotable", "Pools in use.", (row) => row.quotable);
  gauge("pools_waiting", "Pools waiting to be loaded.", (row) => row.waiting);
}

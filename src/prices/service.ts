import type { ChainRegistry } from "../chains/index.ts";
import type { Config } from "../config/index.ts";
import type { Clock } from "../lib/clock.ts";
import { ApiError } from "../lib/errors.ts";
import { SingleFlight } from "../lib/singleFlight.ts";
import type { Logger } from "../telemetry/index.ts";
import type { UpstreamPool } from "../upstream/index.ts";
import { type AssetTable, assets as allAssets } from "./assets.ts";
import type { Prices } from "./model.ts";
import { createRounds, type SourceStatus } from "./round.ts";
import type { SettledPrice } from "./settle.ts";
import { sourceFactories } from "./sources/index.ts";
import type { PriceSource, SourceFactory } from "./sources/source.ts";
import { usdToNumber } from "./usd.ts";

/** A price no round has renewed for this long is no longer served. */
const MAX_STALE_MS = 300_000;
/** After the last request, the background refresh goes on for this long. */
const IDLE_AFTER_MS = 120_000;
/** Least time between rounds while there is nothing to serve. */
const RETRY_GAP_MS = 1_000;

/** What the prices endpoint answers. */
export interface PriceAnswer {
  readonly prices: Prices;
  /** Ids of the sources behind the prices. */
  readonly sourceIds: readonly string[];
  /** Time of the oldest reading behind the prices, ms since the epoch. */
  readonly asOfMs: number;
  /** The answer as it is sent; made once, since it is the same until the next round. */
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** One asset's price and how it came to be. */
export interface AssetStatus {
  readonly symbol: string;
  readonly usd: number;
  readonly spreadBps: number;
  readonly asOfMs: number;
  readonly sourceIds: readonly string[];
}

/** How the prices stand, for the console and the metrics. */
export interface PricesStatus {
  readonly assets: readonly AssetStatus[];
  readonly sources: readonly SourceStatus[];
}

/** Spot prices, from memory while they are fresh. */
export interface PricesService {
  /** The symbols it prices. */
  readonly assets: AssetTable;
  /**
   * The prices of all assets: at once from memory, else of a round that is waited for.
   * @throws ApiError `PRICE_FEED_UNREACHABLE` when an asset has no price
   */
  current(): PriceAnswer | Promise<PriceAnswer>;
  status(): PricesStatus;
  /** Begins refreshing in the background, as long as prices are asked for. */
  start(): void;
  stop(): void;
}

interface KnownPrice extends SettledPrice {
  /** When the round ended, monotonic ms. */
  readonly settledAtMs: number;
}

/** What the service is made of. */
export interface PricesDependencies {
  readonly config: Config["prices"];
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: ChainRegistry;
  readonly pool: Pick<UpstreamPool, "call">;
  /** In place of the assets and sources there are. */
  readonly assets?: AssetTable;
  readonly sources?: readonly SourceFactory[];
}

/** Makes the price service; nothing runs before the first request or `start`. */
export function createPricesService(dependencies: PricesDependencies): PricesService {
  const { config, clock, log } = dependencies;
  const assets = withAggregators(dependencies.assets ?? allAssets, config.aggregators);
  const sources = makeSources(assets, dependencies);
  const rounds = createRounds({
    assets,
    sources,
    timeoutMs: config.timeoutMs,
    maxDeviationBps: config.maxDeviationBps,
    clock,
    onSourceFailure: (source, reason) => log.warn({ source, reason }, "price source failed"),
  });
  const flight = new SingleFlight<void>();
  const known = new Map<string, KnownPrice>();
  let answer: PriceAnswer | undefined;
  /** Until when the answer may be served, monotonic ms. */
  let servableUntilMs = -Infinity;
  let lastRoundMs = -Infinity;
  /** When all sources were last asked, whatever they had done before. */
  let urgentRoundMs = -Infinity;
  let lastUsedMs = -Infinity;
  let timer: Timer | undefined;

  /** Runs a round, or joins the one under way; does nothing within `gapMs` of the last one. */
  const refresh = (gapMs: number) =>
    flight.run("round", async () => {
      const nowMs = clock.monotonic();
      if (nowMs - lastRoundMs < gapMs) return;
      // An outage of all sources must not outlast itself by the time they are left alone.
      const urgently = nowMs >= servableUntilMs && nowMs - urgentRoundMs >= config.refreshMs;
      if (urgently) urgentRoundMs = nowMs;
      const settled = await rounds.run(urgently);
      const settledAtMs = clock.monotonic();
      lastRoundMs = settledAtMs;
      for (const [symbol, price] of settled) known.set(symbol, { ...price, settledAtMs });
      answer = compose(Object.keys(assets), known, sources);
      const oldest = Math.min(...[...known.values()].map((price) => price.settledAtMs));
      servableUntilMs = answer ? oldest + MAX_STALE_MS : -Infinity;
    });

  const afterRound = async () => {
    await refresh(RETRY_GAP_MS);
    if (!answer || clock.monotonic() >= servableUntilMs) {
      throw new ApiError("PRICE_FEED_UNREACHABLE");
    }
    return answer;
  };

  return {
    assets,
    current() {
      lastUsedMs = clock.monotonic();
      if (!answer || lastUsedMs >= servableUntilMs) return afterRound();
      if (lastUsedMs - lastRoundMs >= config.refreshMs) void refresh(config.refreshMs);
      return answer;
    },
    status: () => ({
      assets: [...known].map(([symbol, { price, spreadBps, asOfMs, sourceIds }]) => ({
        symbol,
        usd: usdToNumber(price),
        spreadBps,
        asOfMs,
        sourceIds,
      })),
      sources: rounds.status(),
    }),
    start() {
      timer ??= setInterval(() => {
        if (clock.monotonic() - lastUsedMs < IDLE_AFTER_MS) void refresh(config.refreshMs / 2);
      }, config.refreshMs);
    },
    stop() {
      clearInterval(timer);
      timer = undefined;
    },
  };
}

/** The table with the configuration's own Chainlink feeds in place of the known ones. */
function withAggregators(
  assets: AssetTable,
  aggregators: Config["prices"]["aggregators"],
): AssetTable {
  return Object.fromEntries(
    Object.entries(assets).map(([symbol, asset]) => {
      const chainlink = aggregators[symbol];
      return [symbol, chainlink ? { ...asset, chainlink } : asset];
    }),
  );
}

function makeSources(assets: AssetTable, dependencies: PricesDependencies): PriceSource[] {
  const { config, pool, registry, sources = sourceFactories } = dependencies;
  const reachable = registry.all.filter(({ upstreams }) => upstreams.length > 0);
  const setup = {
    assets,
    baseUrls: config.baseUrls,
    apiKeys: config.apiKeys,
    chains: pool,
    chainIds: new Set(reachable.map(({ id }) => id)),
  };
  return sources.flatMap((make) => make(setup) ?? []);
}

/** The answer made of the newest price of every asset, or undefined while one has none. */
function compose(
  symbols: readonly string[],
  known: ReadonlyMap<string, KnownPrice>,
  sources: readonly PriceSource[],
): PriceAnswer | undefined {
  const prices: Record<string, { usd: number }> = {};
  const used = new Set<string>();
  let asOfMs = Infinity;
  for (const symbol of symbols) {
    const price = known.get(symbol);
    if (!price) return undefined;
    prices[symbol] = { usd: usdToNumber(price.price) };
    for (const id of price.sourceIds) used.add(id);
    asOfMs = Math.min(asOfMs, price.asOfMs);
  }
  const sourceIds = sources.map(({ id }) => id).filter((id) => used.has(id));
  return {
    prices,
    sourceIds,
    asOfMs,
    body: JSON.stringify(prices),
    headers: {
      "content-type": "application/json",
      "x-price-sources": sourceIds.join(", "),
      "x-price-as-of": new Date(asOfMs).toISOString(),
    },
  };
}

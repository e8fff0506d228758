import type { Config } from "../config/index.ts";
import type { Clock } from "../lib/clock.ts";
import { ApiError } from "../lib/errors.ts";
import { SingleFlight } from "../lib/singleFlight.ts";
import type { Logger } from "../telemetry/index.ts";
import { type AssetSymbol, assetSymbols } from "./assets.ts";
import type { Prices } from "./model.ts";
import { createRound } from "./round.ts";
import type { SettledPrice } from "./settle.ts";
import { priceSources } from "./sources/index.ts";
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
}

/** Spot prices, from memory while they are fresh. */
export interface PricesService {
  /**
   * The prices of all assets. Asks the sources only when memory has none that may be served.
   * @throws ApiError `PRICE_FEED_UNREACHABLE` when an asset has no price
   */
  current(): Promise<PriceAnswer>;
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
}

/** Makes the price service; nothing runs before the first request or `start`. */
export function createPricesService({ config, clock, log }: PricesDependencies): PricesService {
  const round = createRound({
    ...config,
    clock,
    onSourceFailure: (source, reason) => log.warn({ source, reason }, "price source failed"),
  });
  const flight = new SingleFlight<void>();
  const known = new Map<AssetSymbol, KnownPrice>();
  let answer: PriceAnswer | undefined;
  let lastRoundMs = -Infinity;
  let lastUsedMs = -Infinity;
  let timer: Timer | undefined;

  /** Runs a round, or joins the one under way; does nothing within `gapMs` of the last one. */
  const refresh = (gapMs: number) =>
    flight.run("round", async () => {
      if (clock.monotonic() - lastRoundMs < gapMs) return;
      const settled = await round();
      const settledAtMs = clock.monotonic();
      lastRoundMs = settledAtMs;
      for (const [symbol, price] of settled) known.set(symbol, { ...price, settledAtMs });
      answer = compose(known);
    });

  /** The answer in memory, unless one of its prices is too old to be served. */
  const servable = () => {
    const oldest = Math.min(...[...known.values()].map(({ settledAtMs }) => settledAtMs));
    return clock.monotonic() - oldest < MAX_STALE_MS ? answer : undefined;
  };

  return {
    async current() {
      lastUsedMs = clock.monotonic();
      const inMemory = servable();
      if (inMemory) {
        if (lastUsedMs - lastRoundMs >= config.refreshMs) void refresh(config.refreshMs);
        return inMemory;
      }
      await refresh(RETRY_GAP_MS);
      const fresh = servable();
      if (!fresh) throw new ApiError("PRICE_FEED_UNREACHABLE");
      return fresh;
    },
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

/** The answer made of the newest price of every asset, or undefined while one has none. */
function compose(known: ReadonlyMap<AssetSymbol, KnownPrice>): PriceAnswer | undefined {
  const entries: [AssetSymbol, KnownPrice][] = [];
  for (const symbol of assetSymbols) {
    const price = known.get(symbol);
    if (!price) return undefined;
    entries.push([symbol, price]);
  }
  const used = new Set(entries.flatMap(([, { sourceIds }]) => sourceIds));
  const prices = entries.map(([symbol, { price }]) => [symbol, { usd: usdToNumber(price) }]);
  return {
    prices: Object.fromEntries(prices) as Prices,
    sourceIds: priceSources.map(({ id }) => id).filter((id) => used.has(id)),
    asOfMs: Math.min(...entries.map(([, { asOfMs }]) => asOfMs)),
  };
}

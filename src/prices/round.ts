import type { Clock } from "../lib/clock.ts";
import { assetBounds, type AssetSymbol, assetSymbols } from "./assets.ts";
import { askSource } from "./askSource.ts";
import { Breaker } from "./breaker.ts";
import { settle, type SettledPrice, type SourcedReading } from "./settle.ts";
import { priceSources } from "./sources/index.ts";
import type { PriceSource } from "./sources/source.ts";

/** What a round needs beside its sources. */
export interface RoundOptions {
  /** By source id: base URL in place of the public one. */
  readonly baseUrls: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxDeviationBps: number;
  readonly clock: Clock;
  /** Told of every request of a source that failed. */
  readonly onSourceFailure: (sourceId: string, reason: string) => void;
}

/** Asks all sources once. Never rejects; an asset nobody agrees on is left out. */
export type PriceRound = () => Promise<ReadonlyMap<AssetSymbol, SettledPrice>>;

/** Makes the function that runs one round; it keeps a breaker per source. */
export function createRound(options: RoundOptions): PriceRound {
  const asked = priceSources.map((source) => ({ source, breaker: new Breaker() }));

  return async () => {
    const readings = (
      await Promise.all(asked.map(({ source, breaker }) => gather(source, breaker, options)))
    ).flat();
    const nowMs = options.clock.now();
    const prices = new Map<AssetSymbol, SettledPrice>();
    for (const symbol of assetSymbols) {
      const ofAsset = readings.filter(({ asset }) => asset === symbol);
      const { maxDeviationBps } = options;
      const settled = settle(assetBounds[symbol], ofAsset, { nowMs, maxDeviationBps });
      if (settled) prices.set(symbol, settled);
    }
    return prices;
  };
}

async function gather(
  source: PriceSource,
  breaker: Breaker,
  options: RoundOptions,
): Promise<SourcedReading[]> {
  const { clock, timeoutMs } = options;
  if (!breaker.allows(clock.monotonic())) return [];
  const baseUrl = options.baseUrls[source.id] ?? source.publicBaseUrl;
  const { readings, failures, pauseMs } = await askSource(source, { baseUrl, timeoutMs, clock });
  for (const reason of failures) options.onSourceFailure(source.id, reason);
  if (readings.length === 0 || pauseMs > 0) breaker.failed(clock.monotonic(), pauseMs);
  else breaker.succeeded();
  return readings.map(({ asset, price, atMs }) => ({
    asset,
    price,
    atMs,
    sourceId: source.id,
    maxAgeMs: source.maxAgeMs,
  }));
}

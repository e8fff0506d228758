import type { Bounds } from "./assets.ts";
import type { Reading } from "./sources/source.ts";
import { medianUsd, type Usd } from "./usd.ts";

/** Clocks of sources may run ahead of ours by this much. */
const MAX_AHEAD_MS = 60_000;

/** A reading with the source it came from. */
export interface SourcedReading extends Reading {
  readonly sourceId: string;
  /** Id of the source it is used in place of only. */
  readonly standsInFor: string | undefined;
}

/** The price one round of readings agrees on. */
export interface SettledPrice {
  readonly price: Usd;
  /** Ids of the sources whose readings made it. */
  readonly sourceIds: readonly string[];
  /** Time of the oldest reading used. */
  readonly asOfMs: number;
  /** Distance between the highest and the lowest fresh reading, as a share of the price. */
  readonly spreadBps: number;
}

/**
 * Settles one asset's price from one round: fresh readings within the asset's `bounds`, less those
 * further than `maxDeviationBps` from their median; then the median of what is left.
 *
 * The comparison is with this round only, so a market that moves is followed. What is left must
 * be at least half of the fresh readings: where they do not gather around their median there is no
 * price.
 * @param readings - of this asset, at most one per source
 */
export function settle(
  bounds: Bounds,
  readings: readonly SourcedReading[],
  options: { nowMs: number; maxDeviationBps: number },
): SettledPrice | undefined {
  const fresh = withoutStandIns(
    readings.filter((reading) => isFresh(bounds, reading, options.nowMs)),
  );
  if (fresh.length === 0) return undefined;
  const middle = medianUsd(fresh.map(({ price }) => price));
  const reach = middle * BigInt(options.maxDeviationBps);
  const agreeing = fresh.filter(({ price }) => {
    const distance = price > middle ? price - middle : middle - price;
    return distance * 10_000n <= reach;
  });
  if (agreeing.length === 0 || agreeing.length * 2 < fresh.length) return undefined;
  const price = medianUsd(agreeing.map((reading) => reading.price));
  return {
    price,
    sourceIds: agreeing.map(({ sourceId }) => sourceId),
    asOfMs: Math.min(...agreeing.map(({ atMs }) => atMs)),
    spreadBps: spreadBps(fresh, price),
  };
}

function isFresh(bounds: Bounds, { price, atMs, maxAgeMs }: Reading, nowMs: number): boolean {
  const isSane = price >= bounds.low && price <= bounds.high;
  return isSane && atMs >= nowMs - maxAgeMs && atMs <= nowMs + MAX_AHEAD_MS;
}

function withoutStandIns(fresh: readonly SourcedReading[]): SourcedReading[] {
  const present = new Set(fresh.map(({ sourceId }) => sourceId));
  return fresh.filter(({ standsInFor }) => standsInFor === undefined || !present.has(standsInFor));
}

function spreadBps(readings: readonly Reading[], price: Usd): number {
  let [low, high] = [price, price];
  for (const reading of readings) {
    if (reading.price < low) low = reading.price;
    if (reading.price > high) high = reading.price;
  }
  return Number(((high - low) * 1_000_000n) / price) / 100;
}

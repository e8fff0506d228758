import type { Bounds } from "./assets.ts";
import type { Reading } from "./sources/source.ts";
import { medianUsd, type Usd } from "./usd.ts";

/** Clocks of sources may run ahead of ours by this much. */
const MAX_AHEAD_MS = 60_000;

/** A reading with the source it came from. */
export interface SourcedReading extends Reading {
  readonly sourceId: string;
  /** The source's own limit of age. */
  readonly maxAgeMs: number;
}

/** The price one round of readings agrees on. */
export interface SettledPrice {
  readonly price: Usd;
  /** Ids of the sources whose readings made it. */
  readonly sourceIds: readonly string[];
  /** Time of the oldest reading used. */
  readonly asOfMs: number;
}

/**
 * Settles one asset's price from one round: fresh readings within the asset's `bounds`, less those
 * further than `maxDeviationBps` from their median; then the median of what is left.
 *
 * The comparison is with this round only, so a market that moves is followed. What is left must
 * be more than half of the fresh readings: where no majority agrees there is no price.
 * @param readings - of this asset, at most one per source
 */
export function settle(
  bounds: Bounds,
  readings: readonly SourcedReading[],
  options: { nowMs: number; maxDeviationBps: number },
): SettledPrice | undefined {
  const fresh = readings.filter(
    ({ price, atMs, maxAgeMs }) =>
      price >= bounds.low &&
      price <= bounds.high &&
      atMs >= options.nowMs - maxAgeMs &&
      atMs <= options.nowMs + MAX_AHEAD_MS,
  );
  if (fresh.length === 0) return undefined;
  const middle = medianUsd(fresh.map(({ price }) => price));
  const reach = middle * BigInt(options.maxDeviationBps);
  const agreeing = fresh.filter(({ price }) => {
    const distance = price > middle ? price - middle : middle - price;
    return distance * 10_000n <= reach;
  });
  if (agreeing.length * 2 <= fresh.length) return undefined;
  return {
    price: medianUsd(agreeing.map(({ price }) => price)),
    sourceIds: agreeing.map(({ sourceId }) => sourceId),
    asOfMs: Math.min(...agreeing.map(({ atMs }) => atMs)),
  };
}

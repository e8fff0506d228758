import type { Random } from "../lib/clock.ts";

/** An upstream that may be chosen. */
export interface Candidate {
  /** Expected cost of the next request, ms. */
  readonly costMs: number;
  readonly inFlight: number;
}

/** Upstreams this close to the cheapest share the load. */
const BAND_FACTOR = 1.25;
/** Differences below this are noise of timers and schedulers, not of upstreams. */
const BAND_NOISE_MS = 3;

/**
 * Power of two choices: of two random upstreams among those close to the cheapest, the one with
 * fewer requests in flight. Equal upstreams so share the load, without all callers rushing to
 * whichever was the cheapest a moment ago.
 * @returns the chosen candidate, or undefined when there is none
 */
export function choose<Item extends Candidate>(
  candidates: readonly Item[],
  random: Random,
): Item | undefined {
  if (candidates.length <= 1) return candidates[0];
  let bestMs = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) bestMs = Math.min(bestMs, candidate.costMs);
  const limitMs = bestMs * BAND_FACTOR + BAND_NOISE_MS;
  const close = candidates.filter((candidate) => candidate.costMs <= limitMs);
  if (close.length <= 1) return close[0];

  const first = Math.floor(random() * close.length);
  const offset = 1 + Math.floor(random() * (close.length - 1));
  const one = close[first];
  const other = close[(first + offset) % close.length];
  if (!one || !other) return one ?? other;
  return other.inFlight < one.inFlight ? other : one;
}

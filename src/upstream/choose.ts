import type { Random } from "../lib/clock.ts";

/** An upstream that may be chosen. */
export interface Candidate {
  /** Expected cost of the next request, ms. */
  readonly costMs: number;
  readonly inFlight: number;
}

/** Upstreams this close to the cheapest share the load. */
const BAND_FACTOR = 1.25;
/** Draws after which all candidates are looked at. */
const MAX_DRAWS = 4;
/** Differences below this are noise of timers and schedulers, not of upstreams. */
const BAND_NOISE_MS = 3;

/** The candidates close to the cheapest. */
export function nearBest<Item extends Candidate>(candidates: readonly Item[]): readonly Item[] {
  if (candidates.length <= 1) return candidates;
  let bestMs = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) bestMs = Math.min(bestMs, candidate.costMs);
  const limitMs = bestMs * BAND_FACTOR + BAND_NOISE_MS;
  return candidates.filter((candidate) => candidate.costMs <= limitMs);
}

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
  const close = nearBest(candidates);
  return close.length <= 1 ? close[0] : lessLoaded(close, random);
}

/**
 * The same among candidates known to be close to the cheapest, of which some may not be free.
 * @returns undefined when a few draws found none that is
 */
export function drawFree<Item extends Pick<Candidate, "inFlight">>(
  close: readonly Item[],
  isFree: (item: Item) => boolean,
  random: Random,
): Item | undefined {
  if (close.length < 2) return undefined;
  for (let draw = 0; draw < MAX_DRAWS; draw++) {
    const drawn = lessLoaded(close, random);
    if (drawn && isFree(drawn)) return drawn;
  }
  return undefined;
}

function lessLoaded<Item extends Pick<Candidate, "inFlight">>(
  close: readonly Item[],
  random: Random,
): Item | undefined {
  const first = Math.floor(random() * close.length);
  const offset = 1 + Math.floor(random() * (close.length - 1));
  const one = close[first];
  const other = close[(first + offset) % close.length];
  if (!one || !other) return one ?? other;
  return other.inFlight < one.inFlight ? other : one;
}

import { seededRandom } from "../../src/lib/clock.ts";
import { Pace } from "../../src/upstream/limits.ts";
import type { Sent } from "../../src/upstream/slidingWindow.ts";

/** Whether a vendor takes a request that reaches it at a moment, ms. */
export type Limit = (nowMs: number) => boolean;

/** At most `requests` within any `windowMs`; refused ones do not count. */
export function slidingLimit(requests: number, windowMs = 1_000): Limit {
  let taken: number[] = [];
  return (nowMs) => {
    taken = taken.filter((ms) => ms > nowMs - windowMs);
    if (taken.length >= requests) return false;
    taken.push(nowMs);
    return true;
  };
}

/** At most `requests` in each window of the clock. */
export function fixedLimit(requests: number, windowMs = 1_000): Limit {
  let window = -1;
  let taken = 0;
  return (nowMs) => {
    const current = Math.floor(nowMs / windowMs);
    if (current !== window) taken = 0;
    window = current;
    return ++taken <= requests;
  };
}

/** A bucket of `burst` that refills with `perSecond`. */
export function bucketLimit(perSecond: number, burst: number): Limit {
  let tokens = burst;
  let seenMs = 0;
  return (nowMs) => {
    tokens = Math.min(burst, tokens + ((nowMs - seenMs) / 1_000) * perSecond);
    seenMs = nowMs;
    if (tokens < 1) return false;
    tokens--;
    return true;
  };
}

export interface TrafficOptions {
  readonly pace?: Pace;
  readonly limit: Limit;
  readonly seconds: number;
  /** Requests callers would send per second, by time. */
  readonly demand: number | ((second: number) => number);
  readonly latencyMs: number;
  /** What a refusal asks for, by the moment it reached the vendor. */
  readonly retryAfterMs?: (nowMs: number) => number;
  readonly seed?: number;
}

export interface Traffic {
  readonly pace: Pace;
  /** By second: requests that reached the vendor, and of those the refused ones. */
  readonly sent: number[];
  readonly refused: number[];
  /** By second: the rate learned at its begin; infinite while nothing is. */
  readonly learned: number[];
  /** When each request reached the vendor, ms. */
  readonly arrivals: number[];
}

/** Plays traffic under a pace against a vendor, millisecond by millisecond. */
export function playTraffic(options: TrafficOptions): Traffic {
  const { limit, seconds, demand, latencyMs, retryAfterMs, pace = new Pace(), seed = 11 } = options;
  const random = seededRandom(seed);
  const sent = Array.from({ length: seconds }, () => 0);
  const refused = Array.from({ length: seconds }, () => 0);
  const learned: number[] = [];
  const arrivals: number[] = [];
  const flying: { arriveMs: number; answerMs: number; place: Sent; taken?: boolean }[] = [];
  let waiting = 0;
  for (let tick = 1; tick < seconds * 1_000; tick++) {
    const nowMs = tick;
    const second = Math.floor(nowMs / 1_000);
    learned[second] ??= pace.status(nowMs).learnedPerSecond ?? Number.POSITIVE_INFINITY;
    const rate = typeof demand === "number" ? demand : demand(second);
    waiting = Math.min(waiting + rate / 1_000, Math.max(2, 2 * rate));
    while (waiting >= 1 && pace.waitMs(nowMs) === 0) {
      waiting--;
      const one = nowMs + latencyMs * (0.2 + 0.4 * random());
      const answerMs = one + latencyMs * (0.2 + 0.4 * random());
      flying.push({ arriveMs: one, answerMs, place: pace.spend(nowMs) });
    }
    flying.sort((a, b) => a.arriveMs - b.arriveMs);
    for (const request of flying) {
      if (request.arriveMs > nowMs || request.taken !== undefined) continue;
      request.taken = limit(request.arriveMs);
      arrivals.push(request.arriveMs);
      sent[second] = (sent[second] ?? 0) + 1;
      if (!request.taken) refused[second] = (refused[second] ?? 0) + 1;
    }
    for (let index = flying.length - 1; index >= 0; index--) {
      const request = flying[index];
      if (!request || request.answerMs > nowMs) continue;
      flying.splice(index, 1);
      pace.settle(request.place, nowMs);
      if (request.taken) pace.accept(request.place, nowMs);
      else pace.refuse(request.place, nowMs, retryAfterMs?.(request.arriveMs));
    }
  }
  return { pace, sent, refused, learned, arrivals };
}

export const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

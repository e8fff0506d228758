/** Wait after a refusal that names none; doubles with each further refusal. */
const BASE_HOLD_MS = 1_000;
const MAX_HOLD_MS = 30_000;
/** Longest `Retry-After` that is believed. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * The pace of one vendor account: a token bucket for the declared rate, and a hold after the
 * vendor refused. Upstreams of one account share it.
 */
export class Pace {
  #tokens: number;
  #refilledAtMs = 0;
  #heldUntilMs = 0;
  #refusals = 0;

  /** @param perSecond - declared requests per second; undefined: no declared limit */
  constructor(private readonly perSecond: number | undefined) {
    this.#tokens = perSecond ?? 0;
  }

  /** Time until a request may be sent, ms; 0 when one may be sent now. */
  waitMs(nowMs: number): number {
    const holdMs = Math.max(0, this.#heldUntilMs - nowMs);
    if (this.perSecond === undefined) return holdMs;
    this.#refill(nowMs, this.perSecond);
    const tokenMs = this.#tokens >= 1 ? 0 : ((1 - this.#tokens) / this.perSecond) * 1_000;
    return Math.max(holdMs, tokenMs);
  }

  /** Notes a request that is being sent. */
  spend(nowMs: number): void {
    if (this.perSecond === undefined) return;
    this.#refill(nowMs, this.perSecond);
    this.#tokens -= 1;
  }

  /** Notes that the vendor refused for pace. @param retryAfterMs - wait it asked for */
  refuse(nowMs: number, retryAfterMs: number | undefined): void {
    if (retryAfterMs !== undefined) {
      const holdMs = Math.min(retryAfterMs, MAX_RETRY_AFTER_MS);
      this.#heldUntilMs = Math.max(this.#heldUntilMs, nowMs + holdMs);
      return;
    }
    // Refusals of requests sent before the hold began are the same event.
    if (nowMs < this.#heldUntilMs) return;
    const holdMs = Math.min(BASE_HOLD_MS * 2 ** Math.min(this.#refusals, 10), MAX_HOLD_MS);
    this.#refusals++;
    this.#heldUntilMs = nowMs + holdMs;
  }

  /** Notes an answer: the vendor accepts requests again. */
  accept(): void {
    this.#refusals = 0;
  }

  #refill(nowMs: number, perSecond: number): void {
    const elapsedMs = this.#refilledAtMs === 0 ? 0 : Math.max(0, nowMs - this.#refilledAtMs);
    this.#refilledAtMs = nowMs;
    this.#tokens = Math.min(perSecond, this.#tokens + (elapsedMs / 1_000) * perSecond);
  }
}

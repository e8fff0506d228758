/** Failures in a row that open the breaker. */
const FAILURES_TO_OPEN = 3;
const OPEN_MS = 30_000;
/** A feed's own wish to be left alone is honoured up to here. */
const MAX_RETRY_AFTER_MS = 600_000;

/**
 * Keeps a failing source from being asked: open after three failures in a row, one trial after
 * 30 s. A source that names its own pause is left alone for that long, whatever the count.
 */
export class Breaker {
  #failures = 0;
  #closedAtMs = 0;

  /** Whether the source may be asked now. */
  allows(nowMs: number): boolean {
    return nowMs >= this.#closedAtMs;
  }

  succeeded(): void {
    this.#failures = 0;
  }

  /** @param retryAfterMs - pause the source asked for, 0 when it named none */
  failed(nowMs: number, retryAfterMs: number): void {
    this.#failures += 1;
    const pauseMs = this.#failures >= FAILURES_TO_OPEN ? OPEN_MS : 0;
    const wishedMs = Math.min(retryAfterMs, MAX_RETRY_AFTER_MS);
    this.#closedAtMs = Math.max(this.#closedAtMs, nowMs + Math.max(pauseMs, wishedMs));
  }
}

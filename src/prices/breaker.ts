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
  /** When the source is asked again, by our own rule and by its wish. */
  #trialAtMs = 0;
  #wishedAtMs = 0;

  /**
   * Whether the source may be asked now.
   * @param urgently - leaves out our own rule, for when there is no other source to ask
   */
  allows(nowMs: number, urgently = false): boolean {
    return nowMs >= this.#wishedAtMs && (urgently || nowMs >= this.#trialAtMs);
  }

  succeeded(): void {
    this.#failures = 0;
  }

  /** @param retryAfterMs - pause the source asked for, 0 when it named none */
  failed(nowMs: number, retryAfterMs: number): void {
    this.#failures += 1;
    if (this.#failures >= FAILURES_TO_OPEN) this.#trialAtMs = nowMs + OPEN_MS;
    this.#wishedAtMs = Math.max(
      this.#wishedAtMs,
      nowMs + Math.min(retryAfterMs, MAX_RETRY_AFTER_MS),
    );
  }
}

import { remaining } from "../lib/decay.ts";

/** Extra requests (retries and hedges) allowed per call, on average. */
const EXTRA_PER_CALL = 0.15;
/** Extra requests that are always possible after a quiet time, and their refill per second. */
const RESERVE = 10;
const RESERVE_PER_SECOND = 1;
/** Most that can be saved up: the share of ten seconds at a thousand calls per second. */
const MAX_SAVED = 2_000;
/** Savings are lost after this long, so a quiet hour does not pay for a storm. */
const SAVING_HALF_LIFE_MS = 5_000;

/**
 * The budget that retries and hedges of one chain share. Every call pays in a fraction of a
 * request, every extra request takes out one, so a failing chain is not answered with a multiple
 * of its traffic.
 */
export class RetryBudget {
  #saved = 0;
  #reserve = RESERVE;
  #updatedAtMs: number;

  constructor(private readonly now: () => number) {
    this.#updatedAtMs = now();
  }

  /** Notes one call from a caller. */
  deposit(nowMs = this.now()): void {
    this.#age(nowMs);
    this.#saved = Math.min(MAX_SAVED, this.#saved + EXTRA_PER_CALL);
  }

  /** Takes out one extra request. @returns false when the budget is spent */
  withdraw(): boolean {
    this.#age(this.now());
    if (this.#saved >= 1) this.#saved -= 1;
    else if (this.#reserve >= 1) this.#reserve -= 1;
    else return false;
    return true;
  }

  #age(nowMs: number): void {
    const elapsedMs = nowMs - this.#updatedAtMs;
    this.#updatedAtMs = nowMs;
    this.#saved *= remaining(elapsedMs, SAVING_HALF_LIFE_MS);
    this.#reserve = Math.min(RESERVE, this.#reserve + (elapsedMs / 1_000) * RESERVE_PER_SECOND);
  }
}

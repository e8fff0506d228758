import type { VendorHold } from "./accounts.ts";
import { LearnedRate } from "./learnedRate.ts";
import { type Sent, SlidingWindow } from "./slidingWindow.ts";

/** Wait after a refusal that names none: of a rate not known yet, and of one that was kept to. */
const FIRST_HOLD_MS = 1_000;
const PACED_HOLD_MS = 250;
/** Growth of the wait with each further refusal, and its bound. */
const HOLD_GROWTH = 1.5;
const MAX_HOLD_MS = 10_000;
/** Longest `Retry-After` that is believed. */
const MAX_RETRY_AFTER_MS = 3_600_000;
/** How soon to ask again whether the one request that tries a closed account came back. */
const TRIAL_NAP_MS = 20;
/** How late a request may reach the node for a declared rate to hold there too, ms. */
const MAX_ARRIVAL_MS = 150;
/** Below this many requests per second, whole requests per second are too coarse a count. */
const MIN_COUNTED_PER_SECOND = 20;

/** What is known of an account's limits, for the status page and metrics. */
export interface PaceStatus {
  /** Requests per second the operator declared. */
  readonly declaredPerSecond: number | undefined;
  /** Requests per second learned from refusals; undefined while there was none. */
  readonly learnedPerSecond: number | undefined;
  /** Time for which nothing is sent, ms. */
  readonly heldMs: number;
  /** Refusals for pace so far; those of requests sent together count once. */
  readonly refusals: number;
}

export interface PaceOptions {
  /** Declared requests per second; undefined: no declared limit. */
  readonly perSecond?: number | undefined;
  /** Shared with other accounts that are likely the same vendor's. */
  readonly vendor?: VendorHold | undefined;
}

/**
 * The pace of one vendor account: the declared rate, the rate learned from its refusals, and a hold
 * after each of them. Upstreams of one account share it. Times are monotonic, ms.
 */
export class Pace {
  readonly #declaredWindow = new SlidingWindow(MAX_ARRIVAL_MS);
  readonly #learnedWindow = new SlidingWindow(0);
  readonly #learned = new LearnedRate();
  #heldUntilMs = 0;
  /** When the account began to refuse; undefined while it accepts. */
  #closedAtMs: number | undefined;
  /** When the last refusal came; those of requests sent before belong to it. */
  #refusedAtMs = Number.NEGATIVE_INFINITY;
  #refusalsInRow = 0;
  #refusals = 0;
  /** The one request let through to see whether a closed account accepts again. */
  #trial: Sent | undefined;
  /** Requests of the watch that wait; callers leave them a place. */
  #waitingWatch = 0;

  #declaredPerSecond: number | undefined;

  constructor(private readonly options: PaceOptions = {}) {
    this.#declaredPerSecond = options.perSecond;
  }

  /** Notes another declaration for the same account; the lowest holds. */
  declare(perSecond: number | undefined): void {
    if (perSecond === undefined) return;
    const known = this.#declaredPerSecond ?? Number.POSITIVE_INFINITY;
    this.#declaredPerSecond = Math.min(known, perSecond);
  }

  /** Time until a request may be sent, ms; 0 when one may be sent now. */
  waitMs(nowMs: number, isWatch = false): number {
    const holdMs = Math.max(this.#heldUntilMs, this.options.vendor?.heldUntilMs ?? 0) - nowMs;
    if (holdMs > 0) return holdMs;
    if (this.#trial && this.#trial.settledAtMs === undefined) return TRIAL_NAP_MS;
    return Math.max(this.#declaredWaitMs(nowMs, isWatch), this.#learnedWaitMs(nowMs));
  }

  #declaredWaitMs(nowMs: number, isWatch: boolean): number {
    const capacity = this.#declaredPerSecond;
    if (capacity === undefined) return 0;
    return this.#declaredWindow.waitMs(nowMs, isWatch ? capacity : capacity - this.#waitingWatch);
  }

  /** The rate keeps requests apart; the window sees to it that no second holds one too many. */
  #learnedWaitMs(nowMs: number): number {
    const rateMs = this.#learned.waitMs(nowMs);
    const perSecond = this.#learned.perSecond ?? 0;
    if (perSecond < MIN_COUNTED_PER_SECOND) return rateMs;
    const windowMs = this.#learnedWindow.waitMs(nowMs, Math.floor(perSecond));
    if (windowMs > 0) this.#learned.press(nowMs);
    return Math.max(rateMs, windowMs);
  }

  /** Notes that a request of the watch waits, until the returned function is called. */
  awaitWatch(): () => void {
    this.#waitingWatch++;
    return () => void this.#waitingWatch--;
  }

  /** Notes a request that is being sent; `settle` ends it. */
  spend(nowMs: number): Sent {
    this.#learned.spend(nowMs);
    const sent: Sent = { sentAtMs: nowMs, settledAtMs: undefined };
    if (this.#declaredPerSecond !== undefined) this.#declaredWindow.add(sent);
    if (this.#learned.perSecond !== undefined) this.#learnedWindow.add(sent);
    if (this.#closedAtMs !== undefined) this.#trial = sent;
    return sent;
  }

  /** Notes that a request was answered, or given up. */
  settle(sent: Sent, nowMs: number): void {
    sent.settledAtMs ??= nowMs;
    if (this.#trial === sent) this.#trial = undefined;
  }

  /** Notes that a request counted by `spend` was not sent after all. */
  cancel(sent: Sent): void {
    this.settle(sent, Number.NEGATIVE_INFINITY);
  }

  /**
   * Notes that the vendor refused a request for pace.
   * @param retryAfterMs - wait it asked for
   */
  refuse(sent: Sent, nowMs: number, retryAfterMs: number | undefined): void {
    if (retryAfterMs !== undefined) {
      this.#hold(nowMs + Math.min(retryAfterMs, MAX_RETRY_AFTER_MS), nowMs);
    }
    const isAsked = retryAfterMs !== undefined;
    const tells = this.#learned.refuse(this.#closedAtMs, nowMs, isAsked);
    // Requests that were under way at a refusal are part of the same event.
    if (sent.sentAtMs <= this.#refusedAtMs) return;
    this.#refusals++;
    if (!tells && this.#closedAtMs === undefined) return;
    const baseMs = this.#learned.perSecond === undefined ? FIRST_HOLD_MS : PACED_HOLD_MS;
    const holdMs = Math.min(MAX_HOLD_MS, baseMs * HOLD_GROWTH ** Math.min(this.#refusalsInRow, 20));
    this.#refusalsInRow++;
    this.#refusedAtMs = nowMs;
    this.#closedAtMs ??= nowMs;
    this.#hold(nowMs + holdMs, nowMs);
  }

  /** Notes that the vendor took a request. */
  accept(sent: Sent, nowMs: number): void {
    if (this.#closedAtMs !== undefined && sent.sentAtMs > this.#refusedAtMs) {
      this.#learned.reopen(this.#closedAtMs, nowMs);
      this.#closedAtMs = undefined;
      this.#refusalsInRow = 0;
      this.options.vendor?.release(this);
    }
    this.#learned.accept(nowMs);
  }

  status(nowMs: number): PaceStatus {
    const heldUntilMs = Math.max(this.#heldUntilMs, this.options.vendor?.heldUntilMs ?? 0);
    return {
      declaredPerSecond: this.#declaredPerSecond,
      learnedPerSecond: this.#learned.perSecond,
      heldMs: Math.max(0, heldUntilMs - nowMs),
      refusals: this.#refusals,
    };
  }

  #hold(untilMs: number, nowMs: number): void {
    this.#heldUntilMs = Math.max(this.#heldUntilMs, untilMs);
    this.options.vendor?.note(this, this.#heldUntilMs, nowMs);
  }
}

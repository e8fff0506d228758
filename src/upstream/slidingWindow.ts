/** The window a declared or learned rate is counted over. */
const WINDOW_MS = 1_000;
/** Clocks of nodes count in whole milliseconds, so a window of theirs may be this much longer. */
const CLOCK_SLACK_MS = 2;
/** One request that was counted. */
export interface Sent {
  readonly sentAtMs: number;
  /** When its answer came, or it turned out not to be sent; undefined while it is under way. */
  settledAtMs: number | undefined;
}

/**
 * Counts requests so that a node never sees more than a given number within any second, wherever
 * that second begins: a place is free again one second after the request that took it is known to
 * have arrived. Times are monotonic, ms.
 */
export class SlidingWindow {
  /** In the order of sending; those before `#first` have left the window. */
  #sent: Sent[] = [];
  #first = 0;

  /**
   * @param maxArrivalMs - how late a request may reach the node. Until it was answered, or this
   *   long, it may still be on its way; only then does its second begin
   */
  constructor(private readonly maxArrivalMs: number) {}

  /** Time until one more may be sent with at most `capacity` in the window, ms. */
  waitMs(nowMs: number, capacity: number): number {
    this.#drop(nowMs);
    const surplus = this.#sent.length - this.#first - Math.max(1, capacity);
    if (surplus < 0) return 0;
    const last = this.#sent[this.#first + surplus];
    return last ? Math.max(0, this.#freeAtMs(last) - nowMs) : 0;
  }

  add(sent: Sent): void {
    this.#sent.push(sent);
  }

  #drop(nowMs: number): void {
    for (;;) {
      const oldest = this.#sent[this.#first];
      if (!oldest || this.#freeAtMs(oldest) > nowMs) break;
      this.#first++;
    }
    if (this.#first > 256 && this.#first * 2 > this.#sent.length) {
      this.#sent = this.#sent.slice(this.#first);
      this.#first = 0;
    }
  }

  #freeAtMs({ sentAtMs, settledAtMs }: Sent): number {
    const latestMs = sentAtMs + this.maxArrivalMs;
    const arrivedMs = Math.min(settledAtMs ?? latestMs, latestMs);
    return arrivedMs + WINDOW_MS + CLOCK_SLACK_MS;
  }
}

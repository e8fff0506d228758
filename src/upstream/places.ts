import type { CancelSignal } from "../lib/cancel.ts";
import type { Clock } from "../lib/clock.ts";
import type { Pace } from "./limits.ts";
import type { Sent } from "./slidingWindow.ts";

/** Pause between looks whether a place became free for the watch. */
const PLACE_NAP_MS = 20;
/** Longest pause between looks whether the pace admits a batch. */
const BATCH_NAP_MS = 250;

export interface PlacesOptions {
  readonly pace: Pace;
  readonly maxConcurrent: number;
  /** Whether the pace counts calls; false where it counts whole batches once they are sent. */
  readonly countsCalls: boolean;
  readonly clock: Clock;
  /** Called when one more request may be accepted. */
  readonly onFree: () => void;
}

/** The requests under way at one upstream: within its concurrency and its account's pace. */
export class Places {
  inFlight = 0;
  /** What the pace counted for places that are taken and not yet used. */
  readonly #reserved: Sent[] = [];

  constructor(private readonly options: PlacesOptions) {}

  /**
   * Time until a request is admitted, ms; infinite while at the limit in flight.
   * @param isWatch - for the watch's own requests, which callers leave a place
   */
  waitMs(nowMs: number, isWatch: boolean): number {
    if (this.inFlight >= this.options.maxConcurrent) return Number.POSITIVE_INFINITY;
    return this.options.pace.waitMs(nowMs, isWatch);
  }

  /** Takes a place; `use` or `release` ends the reservation. */
  reserve(nowMs: number): void {
    this.inFlight++;
    const { countsCalls, pace } = this.options;
    const sent = countsCalls ? pace.spend(nowMs) : { sentAtMs: nowMs, settledAtMs: undefined };
    this.#reserved.push(sent);
  }

  /** The newest reservation, for a request that is sent now; `leave` ends it. */
  use(nowMs: number): Sent {
    return this.#reserved.pop() ?? { sentAtMs: nowMs, settledAtMs: undefined };
  }

  /** Gives a place back from which nothing was sent. */
  release(): void {
    const place = this.#reserved.pop();
    if (place) this.options.pace.cancel(place);
    this.leave();
  }

  /** Gives the place of a request back that has ended. */
  leave(): void {
    this.inFlight--;
    this.options.onFree();
  }

  /**
   * Waits until there is a place for a request of the watch.
   * @returns false when there will be none in time
   */
  async awaitWatch(untilMs: number): Promise<boolean> {
    const { clock, pace } = this.options;
    const stopWaiting = pace.awaitWatch();
    try {
      for (;;) {
        const nowMs = clock.monotonic();
        const waitMs = this.waitMs(nowMs, true);
        if (waitMs === 0) return true;
        const leftMs = untilMs - nowMs;
        if (leftMs <= 0 || (Number.isFinite(waitMs) && waitMs > leftMs)) return false;
        await Bun.sleep(Math.min(waitMs, leftMs, PLACE_NAP_MS));
      }
    } finally {
      stopWaiting();
    }
  }

  /**
   * Waits until the pace admits one more batch and counts it.
   * @returns what to call when it has ended
   * @throws the signal's reason
   */
  async admitBatch(signal: CancelSignal): Promise<() => void> {
    const { clock, pace } = this.options;
    for (;;) {
      signal.throwIfAborted();
      const waitMs = pace.waitMs(clock.monotonic());
      if (waitMs === 0) break;
      await clock.sleep(Math.min(waitMs, BATCH_NAP_MS), signal);
    }
    const sent = pace.spend(clock.monotonic());
    return () => pace.settle(sent, clock.monotonic());
  }
}

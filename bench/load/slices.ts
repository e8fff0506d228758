import { Histogram, type SparseCounts } from "./histogram.ts";

/** Length of a slice, ms: few stalls touch one, and each holds enough answers to tell slices apart. */
const SLICE_MS = 250;

/** Answers to the requests that were due in one piece of a run. */
export interface Slice {
  /** When it began and ended, ms since the epoch. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly latencies: SparseCounts;
}

/** A stretch of time, ms since the epoch. */
export type Interval = readonly [fromMs: number, toMs: number];

/** Counts latencies by when their requests were due. */
export class SlicedLatencies {
  readonly #slices: Histogram[] = [];
  readonly #startedAt = Date.now();

  /** @param dueAfterMs - when the request was due, ms since the run began */
  record(dueAfterMs: number, ms: number): void {
    const index = Math.max(0, Math.floor(dueAfterMs / SLICE_MS));
    while (this.#slices.length <= index) this.#slices.push(new Histogram());
    this.#slices[index]?.record(ms);
  }

  report(): Slice[] {
    return this.#slices.map((histogram, index) => ({
      fromMs: this.#startedAt + index * SLICE_MS,
      toMs: this.#startedAt + (index + 1) * SLICE_MS,
      latencies: histogram.sparse(),
    }));
  }
}

/**
 * Adds up the slices that nothing of `disturbances` touches. What a disturbance held up is answered
 * after it, so it is taken to last twice as long as it did.
 * @returns their latencies, and the share of slices that were left out
 */
export function undisturbed(
  slices: readonly Slice[],
  disturbances: readonly Interval[],
): { readonly latencies: Histogram; readonly leftOutShare: number } {
  const latencies = new Histogram();
  let leftOut = 0;
  for (const slice of slices) {
    const isTouched = disturbances.some(
      ([fromMs, toMs]) => fromMs < slice.toMs && toMs + (toMs - fromMs) > slice.fromMs,
    );
    if (isTouched) leftOut++;
    else latencies.add(slice.latencies);
  }
  return { latencies, leftOutShare: leftOut / Math.max(1, slices.length) };
}

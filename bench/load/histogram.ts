/** Values below this are counted exactly. */
const LINEAR = 256;
/** Buckets per doubling above; a value is off by at most 1/128. */
const PER_DOUBLING = 128;
const DOUBLINGS = 26;

/** The counts that are not 0, by their index. */
export type SparseCounts = readonly (readonly [index: number, count: number])[];

/**
 * Counts of latencies in µs, exact up to 255 µs and to 0.8 % above, up to four hours. Its size does
 * not depend on how many are recorded, so recording costs nothing that could disturb a run.
 */
export class Histogram {
  readonly #counts = new Float64Array(LINEAR + PER_DOUBLING * DOUBLINGS);
  #total = 0;
  #max = 0;

  get total(): number {
    return this.#total;
  }

  /** Records one latency. @param ms - fractions count down to 1 µs */
  record(ms: number): void {
    const us = Math.max(0, Math.round(ms * 1_000));
    const index = indexOf(us);
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#total++;
    if (us > this.#max) this.#max = us;
  }

  /**
   * The latency that a share of all recorded ones does not exceed, ms; NaN when none is recorded.
   * @param share - 0 to 1
   */
  quantileMs(share: number): number {
    if (this.#total === 0) return Number.NaN;
    let left = Math.max(1, Math.ceil(this.#total * share));
    for (let index = 0; index < this.#counts.length; index++) {
      left -= this.#counts[index] ?? 0;
      if (left <= 0) return Math.min(highestOf(index), this.#max) / 1_000;
    }
    return this.#max / 1_000;
  }

  /** What it holds, for another histogram's `add`. */
  sparse(): SparseCounts {
    return [...this.#counts.entries()].filter(([, count]) => count > 0);
  }

  /** Adds another histogram's counts; its highest value is known to 0.8 % then. */
  add(counts: SparseCounts): void {
    for (const [index, count] of counts) {
      this.#counts[index] = (this.#counts[index] ?? 0) + count;
      this.#total += count;
      this.#max = Math.max(this.#max, highestOf(index));
    }
  }

  get maxMs(): number {
    return this.#total === 0 ? Number.NaN : this.#max / 1_000;
  }
}

function indexOf(us: number): number {
  if (us < LINEAR) return us;
  const doubling = Math.floor(Math.log2(us)) - 8;
  const step = 2 ** (doubling + 1);
  const index = LINEAR + doubling * PER_DOUBLING + Math.floor(us / step) - PER_DOUBLING;
  return Math.min(index, LINEAR + PER_DOUBLING * DOUBLINGS - 1);
}

/** Largest value counted at an index, µs. */
function highestOf(index: number): number {
  if (index < LINEAR) return index;
  const doubling = Math.floor((index - LINEAR) / PER_DOUBLING);
  const step = 2 ** (doubling + 1);
  return ((index - LINEAR) % PER_DOUBLING) * step + PER_DOUBLING * step + step - 1;
}

import type { Answer } from "./connection.ts";
import { Histogram } from "./histogram.ts";
import type { LoadReport } from "./job.ts";
import { SlicedLatencies } from "./slices.ts";

/** Adds up the answers of one run. */
export class Tally {
  readonly #latencies = new Histogram();
  readonly #slices: SlicedLatencies | undefined;
  readonly #startedAt = performance.now();
  #failures = 0;
  #bytes = 0;

  constructor({ isSliced = false }: { readonly isSliced?: boolean } = {}) {
    this.#slices = isSliced ? new SlicedLatencies() : undefined;
  }

  /** Notes an answer; undefined when none came. */
  add(answer: Answer | undefined, ms: number): void {
    // A failure's time counts too: a server must not look quick by failing quickly or never.
    this.#latencies.record(ms);
    this.#slices?.record(performance.now() - ms - this.#startedAt, ms);
    if (!answer?.right) this.#failures++;
    this.#bytes += answer?.bytes ?? 0;
  }

  report(): LoadReport {
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    const latencies = this.#latencies;
    return {
      answers: latencies.total,
      requestsPerSecond: (latencies.total - this.#failures) / seconds,
      failures: this.#failures,
      megabytesPerSecond: this.#bytes / 1e6 / seconds,
      p50Ms: latencies.quantileMs(0.5),
      p90Ms: latencies.quantileMs(0.9),
      p99Ms: latencies.quantileMs(0.99),
      p999Ms: latencies.quantileMs(0.999),
      maxMs: latencies.maxMs,
      slices: this.#slices?.report() ?? [],
    };
  }
}

import type { Slice } from "./slices.ts";
import type { Target } from "./request.ts";

/** What a load generator is to do. */
export interface LoadJob {
  readonly target: Target;
  readonly seconds: number;
  /** Keep-alive connections. */
  readonly clients: number;
  /**
   * Requests per second, sent on time whether earlier ones were answered or not; undefined: every
   * client sends its next request when the last one is answered.
   */
  readonly rate: number | undefined;
  /**
   * Sleeps between requests of an open loop, which are then late by up to a few ms, and leaves the
   * core to others: for long runs.
   */
  readonly isGentle?: boolean;
  /** Reports an open loop's latencies by slices of its time as well. */
  readonly isSliced?: boolean;
}

/** What a load generator saw, by name. Latencies in ms. */
export interface LoadFigures {
  /** Answers of any kind. */
  readonly answers: number;
  /** Right answers. */
  readonly requestsPerSecond: number;
  /** Answers that were wrong, broken or missing. */
  readonly failures: number;
  readonly megabytesPerSecond: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
}

export interface LoadReport extends LoadFigures {
  /** In the order of time; empty unless the job asked for them. */
  readonly slices: readonly Slice[];
}

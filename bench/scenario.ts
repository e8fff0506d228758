import type { Rig } from "./rig/rig.ts";
import type { Source } from "./rig/service.ts";

/** One measured run: figures by name, with the unit last in the name. */
export type Figures = Readonly<Record<string, number>>;

/** One of the things a scenario compares. */
export interface Candidate {
  readonly name: string;
  /** Sends one request and throws when the answer is not the right one. */
  check(): Promise<void>;
  /** Brings it into the state it is in after some minutes of work; left out: a measurement does. */
  warmUp?(seconds: number): Promise<unknown>;
  /** Measures once. */
  measure(seconds: number): Promise<Figures>;
}

/** What a scenario is given. */
export interface Bench {
  readonly rig: Rig;
  /** Revisions of the service to measure; the first is the one others are compared with. */
  readonly sources: readonly Source[];
  /** False when revisions are compared with each other, and not with other servers. */
  readonly withReferences: boolean;
  readonly repeats: number;
  /** Length of one measurement. */
  readonly seconds: number;
  /** Leaves out what takes long to prepare. */
  readonly isQuick: boolean;
  /** Says what is being done. */
  progress(text: string): void;
}

/** Median and range of one figure over the repeats. */
export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly values: readonly number[];
}

/** One line of a result's table. */
export interface Row {
  readonly name: string;
  /** By the result's headline figure, relative to the baseline; undefined without one. */
  readonly ratio: Summary | undefined;
  readonly figures: Readonly<Record<string, Summary>>;
}

/** A course over time, or over the size of something. */
export interface Series {
  readonly title: string;
  readonly unit: string;
  /** What of there is so much; undefined: the course is over time. Sizes are drawn to a logarithmic scale. */
  readonly over?: string;
  /** Seconds since the start or size, and the value there. */
  readonly points: readonly (readonly [at: number, value: number])[];
}

export interface Result {
  readonly scenario: string;
  readonly title: string;
  /** The figure the ratio compares. */
  readonly headline: string;
  /** Name of the row that ratios are relative to. */
  readonly baseline: string | undefined;
  readonly rows: readonly Row[];
  readonly series: readonly Series[];
  /** What to know when reading the figures. */
  readonly notes: readonly string[];
}

export interface Scenario {
  readonly name: string;
  /** What it answers, in one line. */
  readonly title: string;
  run(bench: Bench): Promise<Result>;
}

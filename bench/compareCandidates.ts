import type { Bench, Candidate, Figures, Result, Row, Scenario, Summary } from "./scenario.ts";

export interface Comparison {
  /** The figure the ratio compares. */
  readonly headline: string;
  /** Rows that ratios may be relative to, best first; the first row where none of them is there. */
  readonly baselines: readonly string[];
  readonly notes?: readonly string[];
}

/**
 * Time each candidate is warmed up for, s: under full load, the runtime's compiler has then seen what
 * is called often. A server runs for weeks; it is not to be judged by its first seconds.
 */
const WARM_UP_S = 8;

/**
 * Measures candidates in turns, `bench.repeats` times, so that a slow minute of the machine hits
 * all of them. Ratios are taken within a turn and then summarised.
 * @throws Error when a candidate gives a wrong answer, before or after
 */
export async function compareCandidates(
  bench: Bench,
  scenario: Pick<Scenario, "name" | "title">,
  candidates: readonly Candidate[],
  comparison: Comparison,
): Promise<Result> {
  const runs = new Map<string, Figures[]>(candidates.map(({ name }) => [name, []]));
  for (const candidate of candidates) {
    bench.progress(`${candidate.name}: check and warm-up`);
    await candidate.check();
    await (candidate.warmUp?.(WARM_UP_S) ?? candidate.measure(WARM_UP_S));
  }
  for (let turn = 0; turn < bench.repeats; turn++) {
    // Each turn starts with another candidate, so that none always follows the same one.
    const shift = turn % candidates.length;
    for (const candidate of [...candidates.slice(shift), ...candidates.slice(0, shift)]) {
      const figures = await candidate.measure(bench.seconds);
      runs.get(candidate.name)?.push(figures);
      const value = format(figures[comparison.headline] ?? Number.NaN);
      bench.progress(
        `${turn + 1}/${bench.repeats} ${candidate.name}: ${comparison.headline} ${value}`,
      );
    }
  }
  for (const candidate of candidates) await candidate.check();

  const { headline, notes = [] } = comparison;
  const baseline =
    comparison.baselines.find((name) => runs.has(name)) ??
    (candidates.length > 1 ? candidates[0]?.name : undefined);
  return {
    scenario: scenario.name,
    title: scenario.title,
    headline,
    baseline,
    rows: candidates.map(({ name }) =>
      toRow(name, runs.get(name) ?? [], baseline === undefined ? [] : runs.get(baseline), headline),
    ),
    series: [],
    notes,
  };
}

function toRow(
  name: string,
  runs: readonly Figures[],
  baseRuns: readonly Figures[] | undefined,
  headline: string,
): Row {
  const ratios = runs.flatMap((figures, turn) => {
    const base = baseRuns?.[turn]?.[headline];
    const own = figures[headline];
    return base === undefined || own === undefined ? [] : [own / base];
  });
  const names = Object.keys(runs[0] ?? {});
  return {
    name,
    ratio: ratios.length === 0 ? undefined : summarise(ratios),
    figures: Object.fromEntries(
      names.map((figure) => [figure, summarise(runs.map((run) => run[figure] ?? Number.NaN))]),
    ),
  };
}

/** Median and range of the repeats. */
export function summarise(values: readonly number[]): Summary {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const low = sorted[Math.floor(middle)] ?? Number.NaN;
  const high = sorted[Math.ceil(middle)] ?? Number.NaN;
  return {
    median: (low + high) / 2,
    min: sorted[0] ?? Number.NaN,
    max: sorted.at(-1) ?? Number.NaN,
    values,
  };
}

/** A figure in few digits. */
export function format(value: number): string {
  if (Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(size >= 10 ? 1 : size >= 0.1 ? 2 : 3);
}

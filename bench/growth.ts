import { compareCandidates, format } from "./compareCandidates.ts";
import type { Bench, Candidate, Result, Scenario } from "./scenario.ts";

/** One measured size: so many of what grows, and how to measure there. */
export interface Size {
  readonly count: number;
  readonly measured: Omit<Candidate, "name">;
}

/** CPU time is compared, because it suffers least from other work on the machine. */
const COST = "cpuMicrosPerAnswer";

/**
 * Measures the same work at growing sizes, in turns. Ratios are of CPU time per answer, relative to
 * the smallest size; the course of it is drawn over the size.
 * @param of - what grows, in the plural
 * @param sizes - ascending
 */
export async function compareSizes(
  bench: Bench,
  scenario: Pick<Scenario, "name" | "title">,
  of: string,
  sizes: readonly Size[],
  notes: readonly string[] = [],
): Promise<Result> {
  const nameOf = (count: number) => `${count.toLocaleString("en-US")} ${of}`;
  const candidates = sizes.map(({ count, measured }) => ({ ...measured, name: nameOf(count) }));
  const result = await compareCandidates(bench, scenario, candidates, {
    headline: COST,
    baselines: [],
    notes,
  });
  const points = sizes.map(({ count }): [number, number] => {
    const row = result.rows.find(({ name }) => name === nameOf(count));
    return [count, row?.figures[COST]?.median ?? Number.NaN];
  });
  const series = { title: `${scenario.title}: cost of an answer`, unit: "µs of CPU", over: of };
  return { ...result, series: [{ ...series, points }], notes: [growthOf(of, points), ...notes] };
}

/** How cost grew in one sentence. */
function growthOf(of: string, points: readonly (readonly [number, number])[]): string {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return "";
  const [from, to] = [first[0], last[0]].map((size) => size.toLocaleString("en-US"));
  return `From ${from} to ${to} ${of}, an answer becomes ${format(last[1] / first[1])} times as costly.`;
}

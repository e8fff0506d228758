import type { HourView } from "../../views.ts";

/** Bars that stand on each other, one layer per operation. */
export interface Stack {
  /** Begin of each bar, unix seconds. */
  readonly times: readonly number[];
  /** Layers, the largest first. */
  readonly names: readonly string[];
  readonly totals: readonly number[];
  /** Per layer and bar. */
  readonly values: readonly (readonly number[])[];
  /** Per layer and bar: the layer with all below it. */
  readonly cumulated: readonly (readonly number[])[];
  /** Height of the highest bar. */
  readonly maximum: number;
}

/**
 * Sorts charges into bars of equal width.
 * @param frame - from: begin of the first bar, ms; to: end of the last; stepMs: width of a bar
 */
export function stackBars(
  hours: readonly HourView[],
  frame: { from: number; to: number; stepMs: number; unit: "requests" | "cu" },
): Stack {
  const { from, to, stepMs, unit } = frame;
  const bars = Math.ceil((to - from) / stepMs);
  const layers = new Map<string, number[]>();
  for (const hour of hours) {
    const bar = Math.floor((hour.at - from) / stepMs);
    if (bar < 0 || bar >= bars) continue;
    const layer = layers.get(hour.operation) ?? zeros(bars);
    layer[bar] = (layer[bar] ?? 0) + hour[unit];
    layers.set(hour.operation, layer);
  }
  const sorted = [...layers]
    .map(([name, values]) => ({ name, values, total: values.reduce((sum, one) => sum + one, 0) }))
    .sort((a, b) => b.total - a.total);
  const below = zeros(bars);
  const cumulated = sorted.map(({ values }) =>
    values.map((value, bar) => (below[bar] = (below[bar] ?? 0) + value)),
  );
  return {
    times: Array.from({ length: bars }, (_, bar) => (from + bar * stepMs) / 1000),
    names: sorted.map(({ name }) => name),
    totals: sorted.map(({ total }) => total),
    values: sorted.map(({ values }) => values),
    cumulated,
    maximum: Math.max(0, ...below),
  };
}

function zeros(length: number): number[] {
  return Array.from({ length }, () => 0);
}

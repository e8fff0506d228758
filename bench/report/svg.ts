import { format } from "../compareCandidates.ts";
import type { Result, Series } from "../scenario.ts";

const WIDTH = 720;
const LABEL_WIDTH = 190;
const VALUE_WIDTH = 110;
const BAR_HEIGHT = 22;
const GAP = 10;
const TOP = 44;
const style = `<style>
  text { font: 13px system-ui, sans-serif; fill: #1f2933 } .title { font-weight: 600 }
  .faint { fill: #52606d; font-size: 11px } .bar { fill: #9fb3c8 } .own { fill: #2f6fde }
  .range { stroke: #1f2933; stroke-width: 1.5 } .line { fill: none; stroke: #2f6fde; stroke-width: 2 }
  .grid { stroke: #d9e2ec } rect.back { fill: #ffffff }
</style>`;

/** Bars of a result's headline figure, with the range over the repeats. */
export function renderBars(result: Result): string {
  const bars = result.rows.flatMap((row) => {
    const summary = row.figures[result.headline];
    return summary ? [{ name: row.name, ratio: row.ratio, ...summary }] : [];
  });
  const largest = Math.max(...bars.map(({ max }) => max));
  const scale = (WIDTH - LABEL_WIDTH - VALUE_WIDTH) / (largest || 1);
  const body = bars.map(({ name, median, min, max, ratio }, index) => {
    const y = TOP + index * (BAR_HEIGHT + GAP);
    const middle = y + BAR_HEIGHT / 2;
    const isOwn = name.startsWith("causeway");
    const x = (value: number) => LABEL_WIDTH + value * scale;
    const note = ratio && name !== result.baseline ? ` (${ratio.median.toFixed(2)}×)` : "";
    return [
      `<text x="${LABEL_WIDTH - 8}" y="${middle + 4}" text-anchor="end">${escape(name)}</text>`,
      `<rect class="${isOwn ? "own" : "bar"}" x="${LABEL_WIDTH}" y="${y}" width="${median * scale}" height="${BAR_HEIGHT}" rx="2"/>`,
      `<line class="range" x1="${x(min)}" x2="${x(max)}" y1="${middle}" y2="${middle}"/>`,
      `<text x="${x(max) + 6}" y="${middle + 4}">${format(median)}${note}</text>`,
    ].join("\n");
  });
  const height = TOP + bars.length * (BAR_HEIGHT + GAP) + 8;
  return document(height, result.title, `${result.headline}, median and range`, body);
}

/** A line over time, or over sizes to a logarithmic scale. */
export function renderLine(series: Series): string {
  const height = 260;
  const [left, right, bottom] = [70, WIDTH - 30, height - 34];
  const scale = scaleOf(series);
  const largest = Math.max(...series.points.map(([, value]) => value)) * 1.1 || 1;
  const x = (at: number) => left + (right - left) * scale.share(at);
  const y = (value: number) => bottom - ((bottom - TOP) * value) / largest;
  const grid = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const at = y(largest * share);
    return (
      `<line class="grid" x1="${left}" x2="${right}" y1="${at}" y2="${at}"/>` +
      `<text class="faint" x="${left - 6}" y="${at + 4}" text-anchor="end">${format(largest * share)}</text>`
    );
  });
  const points = series.points.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`);
  const axes = series.over ? `${series.unit}, over the number of ${series.over}` : series.unit;
  return document(height, series.title, axes, [
    ...grid,
    `<polyline class="line" points="${points.join(" ")}"/>`,
    ...scale.labels.map(
      ({ at, text }) =>
        `<text class="faint" x="${x(at)}" y="${height - 12}" text-anchor="middle">${text}</text>`,
    ),
  ]);
}

/** 100,000,000 as 100M. */
const compact = new Intl.NumberFormat("en-US", { notation: "compact" });

/** None at all stands where one does, which on this scale is as little as nothing. */
const log = (at: number) => Math.log10(Math.max(1, at));

interface Scale {
  /** Where a value stands between the chart's edges, 0 to 1. */
  share(at: number): number;
  readonly labels: readonly { readonly at: number; readonly text: string }[];
}

function scaleOf({ over, points }: Series): Scale {
  const values = points.map(([at]) => at);
  const largest = Math.max(1, ...values);
  if (over === undefined) {
    return {
      share: (at) => at / largest,
      labels: [{ at: largest, text: `${format(largest)} s` }],
    };
  }
  const smallest = Math.min(...values.map(log));
  const span = log(largest) - smallest || 1;
  return {
    share: (at) => (log(at) - smallest) / span,
    labels: values.map((at) => ({ at, text: compact.format(at) })),
  };
}

function document(height: number, title: string, subtitle: string, body: readonly string[]) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">
${style}
<rect class="back" width="${WIDTH}" height="${height}"/>
<text class="title" x="10" y="18">${escape(title)}</text>
<text class="faint" x="10" y="33">${escape(subtitle)}</text>
${body.join("\n")}
</svg>
`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

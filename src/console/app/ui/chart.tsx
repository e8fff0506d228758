import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { HourView } from "../../views.ts";
import { count, exactly } from "../format.ts";
import { colourOf, useColourChanges } from "../theme.ts";
import { type Stack, stackBars } from "./stack.ts";

const HEIGHT_PX = 240;
/** Where the scale ends at least, so that a few requests do not fill it. */
const LOWEST_TOP = 4;
const colours = 9;

/** The colour of the n-th series. */
export function seriesColour(index: number): string {
  return `--series-${(index % colours) + 1}`;
}

/** Charges over time as stacked bars, one colour per operation; the legend names them. */
export function UsageChart(props: {
  label: string;
  hours: readonly HourView[];
  from: number;
  to: number;
  unit: "requests" | "cu";
  /** Width of a bar, ms. */
  stepMs: number;
}) {
  const { label, hours, from, to, unit, stepMs } = props;
  const box = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const changes = useColourChanges();
  const stack = useMemo(
    () => stackBars(hours, { from, to, stepMs, unit }),
    [hours, from, to, stepMs, unit],
  );

  useEffect(() => {
    const target = box.current;
    if (!target) return;
    const plot = new uPlot(options(stack, target.clientWidth, tip.current), data(stack), target);
    const watch = new ResizeObserver(() => {
      plot.setSize({ width: target.clientWidth, height: HEIGHT_PX });
    });
    watch.observe(target);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [stack, changes]);

  return (
    <figure class="chart" aria-label={label}>
      <div ref={box} class="chart-box" aria-hidden="true">
        <div ref={tip} class="chart-tip" hidden />
      </div>
      <figcaption>
        {stack.names.length === 0 ? (
          <span>No requests in this time.</span>
        ) : (
          stack.names.map((name, index) => (
            <span key={name} class="legend">
              <i style={{ background: `var(${seriesColour(index)})` }} />
              {name} <b>{count(stack.totals[index] ?? 0)}</b>
            </span>
          ))
        )}
      </figcaption>
    </figure>
  );
}

/** Cumulated sums; drawn from the highest on, so that each bar covers those that stand on it. */
function data({ times, cumulated }: Stack): uPlot.AlignedData {
  return [Array.from(times), ...cumulated.toReversed().map((column) => Array.from(column))];
}

function options(stack: Stack, width: number, tip: HTMLElement | null): uPlot.Options {
  const { names, times, maximum } = stack;
  const ink = colourOf("--muted");
  const line = colourOf("--line");
  const axis = {
    stroke: ink,
    font: "12px system-ui, sans-serif",
    grid: { stroke: line, width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { range: () => edges(times) },
      y: { range: () => [0, Math.max(LOWEST_TOP, maximum * 1.1)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 32,
        space: 64,
        values: (_plot, marks) => timeMarks(marks, times),
      },
      { ...axis, size: 52, values: (_plot, marks) => marks.map(wholeMark) },
    ],
    series: [{}, ...names.map((_name, index) => layer(seriesColour(index))).toReversed()],
    hooks: { setCursor: [(plot) => tip && showTip(plot, stack, tip)] },
  };
}

function layer(colour: string): uPlot.Series {
  const paths = uPlot.paths.bars?.({ size: [0.72, 36], radius: 0.12 });
  const series = { fill: colourOf(colour), width: 0, points: { show: false } };
  return paths ? Object.assign(series, { paths }) : series;
}

/** Requests come in whole numbers only. */
function wholeMark(mark: number): string {
  return Number.isInteger(mark) ? count(mark) : "";
}

const DAY_SECONDS = 86_400;
const clock = new Intl.DateTimeFormat("en", {
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});
const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });

/** Hours within two days, days beyond. */
function timeMarks(marks: readonly number[], times: readonly number[]): string[] {
  const isShort = (times.at(-1) ?? 0) - (times[0] ?? 0) < 2 * DAY_SECONDS;
  return marks.map((mark) => (isShort ? clock : day).format(mark * 1000));
}

/** Half a bar of room at both ends. */
function edges(times: readonly number[]): [number, number] {
  const [first = 0, second = first + 1] = times;
  const half = (second - first) / 2;
  return [first - half, (times.at(-1) ?? first) + half];
}

function showTip(plot: uPlot, { names, values, times }: Stack, tip: HTMLElement): void {
  const { idx, left = -1 } = plot.cursor;
  const time = typeof idx === "number" ? times[idx] : undefined;
  tip.hidden = left < 0 || time === undefined;
  if (typeof idx !== "number" || time === undefined) return;
  const lines = names.flatMap((name, index) => {
    const value = values[index]?.[idx] ?? 0;
    return value === 0 ? [] : [`${name}: ${exactly(value)}`];
  });
  const head = new Date(time * 1000).toLocaleString("en", {
    dateStyle: "medium",
    timeStyle: "short",
  });
  tip.textContent = [head, ...(lines.length === 0 ? ["nothing"] : lines)].join("\n");
  const room = plot.rect.width - tip.offsetWidth;
  tip.style.left = `${Math.max(0, Math.min(left + 64, room))}px`;
}

import { summarise } from "../compareCandidates.ts";
import { runLoad } from "../load/run.ts";
import { undisturbed } from "../load/slices.ts";
import { coreWaitMs, cpuMicros } from "../rig/cpuTime.ts";
import { residentMegabytes } from "../rig/memory.ts";
import type { Rig } from "../rig/rig.ts";
import { type StallWatch, watchStalls } from "../rig/stalls.ts";
import type { Result, Row, Scenario, Series } from "../scenario.ts";
import { BUSY_MIX, type BusyService, withBusyServices } from "./busyServices.ts";

/** Windows in the place of one repeat, so that there is a course to see. */
const WINDOWS_PER_REPEAT = 3;
const RATE = 500;
const CLIENTS = 64;
/** The first part is left out of the comparison: caches and the compiler still grow. */
const WARM_UP_SHARE = 1 / 3;

interface Window {
  readonly atSeconds: number;
  readonly megabytes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of the requests that were not due while the machine stood still. */
  readonly ownP99Ms: number;
  /** Part of the window that was left out for it. */
  readonly stalledShare: number;
  readonly cpuMicrosPerAnswer: number;
  /** Part of the window in which the service was ready to run and something else had its core. */
  readonly coreWaitShare: number;
  readonly failures: number;
}

/** Resident memory and latency under a steady load; `--seconds` is the length of one window. */
export const memory: Scenario = {
  name: "memory",
  title: `memory and p99 over time, everything at once, ${RATE} requests per second (open loop)`,
  run: ({ rig, sources, ...bench }) =>
    withBusyServices(rig, sources, async (services): Promise<Result> => {
      const watch = watchStalls(rig);
      const rows: Row[] = [];
      const series: Series[] = [];
      for (const busy of services) {
        const { label } = busy.service;
        const windows: Window[] = [];
        const startedAt = performance.now();
        for (let window = 0; window < bench.repeats * WINDOWS_PER_REPEAT; window++) {
          const seen = await measureWindow(busy, rig, watch, bench.seconds);
          const atSeconds = (performance.now() - startedAt) / 1_000;
          windows.push({ ...seen, atSeconds });
          bench.progress(progressOf(label, atSeconds, seen));
        }
        rows.push(toRow(label, windows));
        series.push(
          toSeries(`${label}: resident memory`, "MB", windows, "megabytes"),
          toSeries(`${label}: p99 latency while the machine ran`, "ms", windows, "ownP99Ms"),
          toSeries(`${label}: p99 latency, the machine's stalls included`, "ms", windows, "p99Ms"),
          toSeries(`${label}: time the machine's stalls touched`, "share", windows, "stalledShare"),
        );
      }
      return {
        scenario: memory.name,
        title: memory.title,
        headline: "residentMB",
        baseline: undefined,
        rows,
        series,
        notes: [
          "growth is the slope after the first third of the run.",
          "A process on each core does nothing but sleep; while neither can wake, the machine stands still. ownP99Ms leaves out the quarter seconds that such a stall touched, p99Ms nothing. coreWaitShare is how long the service waited for its core while something else had it.",
          BUSY_MIX,
        ],
      };
    }),
};

const grown = (after: number | undefined, since: number | undefined) =>
  (after ?? Number.NaN) - (since ?? Number.NaN);

async function measureWindow(
  { service, target }: BusyService,
  rig: Rig,
  watch: StallWatch,
  seconds: number,
): Promise<Omit<Window, "atSeconds">> {
  const { pid } = service.child;
  const before = { cpuMicros: cpuMicros(pid), waitMs: coreWaitMs(pid) };
  const load = { clients: CLIENTS, rate: RATE, isGentle: true, isSliced: true };
  const report = await runLoad({ target, seconds, ...load }, rig.dir);
  const usedMicros = grown(cpuMicros(pid), before.cpuMicros);
  const waitedMs = grown(coreWaitMs(pid), before.waitMs);
  const { latencies, leftOutShare } = undisturbed(report.slices, watch.stalls());
  return {
    megabytes: residentMegabytes(pid),
    p50Ms: report.p50Ms,
    p99Ms: report.p99Ms,
    ownP99Ms: latencies.quantileMs(0.99),
    stalledShare: leftOutShare,
    cpuMicrosPerAnswer: usedMicros / report.answers,
    coreWaitShare: waitedMs / 1_000 / seconds,
    failures: report.failures,
  };
}

function progressOf(label: string, atSeconds: number, seen: Omit<Window, "atSeconds">): string {
  const { megabytes, p99Ms, ownP99Ms, stalledShare, failures } = seen;
  return (
    `${label} after ${atSeconds.toFixed(0)} s: ${megabytes.toFixed(0)} MB, ` +
    `p99 ${p99Ms.toFixed(1)} ms, ${ownP99Ms.toFixed(1)} ms while the machine ran ` +
    `(all but ${(stalledShare * 100).toFixed(1)} %), ${failures} failures`
  );
}

function toRow(name: string, windows: readonly Window[]): Row {
  const steady = windows.slice(Math.floor(windows.length * WARM_UP_SHARE));
  const of = (figure: keyof Window) => summarise(steady.map((window) => window[figure]));
  return {
    name,
    ratio: undefined,
    figures: {
      residentMB: of("megabytes"),
      growthMBPerMinute: summarise([slope(steady, "megabytes") * 60]),
      p50Ms: of("p50Ms"),
      ownP99Ms: of("ownP99Ms"),
      growthOwnP99MsPerMinute: summarise([slope(steady, "ownP99Ms") * 60]),
      p99Ms: of("p99Ms"),
      stalledShare: of("stalledShare"),
      cpuMicrosPerAnswer: of("cpuMicrosPerAnswer"),
      coreWaitShare: of("coreWaitShare"),
      failures: summarise([windows.reduce((sum, { failures }) => sum + failures, 0)]),
    },
  };
}

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Least-squares slope of a figure over time, per second. */
function slope(windows: readonly Window[], figure: keyof Window): number {
  const meanAt = mean(windows.map(({ atSeconds }) => atSeconds));
  const meanValue = mean(windows.map((window) => window[figure]));
  let above = 0;
  let below = 0;
  for (const window of windows) {
    above += (window.atSeconds - meanAt) * (window[figure] - meanValue);
    below += (window.atSeconds - meanAt) ** 2;
  }
  return below === 0 ? 0 : above / below;
}

function toSeries(
  title: string,
  unit: string,
  windows: readonly Window[],
  figure: keyof Window,
): Series {
  return { title, unit, points: windows.map((window) => [window.atSeconds, window[figure]]) };
}

import { targetOf } from "../candidates.ts";
import { summarise } from "../compareCandidates.ts";
import type { Target } from "../load/request.ts";
import { runLoad } from "../load/run.ts";
import { coreWaitMs, cpuMicros } from "../rig/cpuTime.ts";
import { residentMegabytes } from "../rig/memory.ts";
import { startBareBun } from "../rig/references.ts";
import type { Rig } from "../rig/rig.ts";
import type { RunningService } from "../rig/service.ts";
import type { Result, Row, Scenario, Series } from "../scenario.ts";
import { BUSY_MIX, withBusyServices } from "./busyServices.ts";
import { balanceRequests, RPC_EXPECTS } from "./rpcRequests.ts";

/** Windows in the place of one repeat, so that there is a course to see. */
const WINDOWS_PER_REPEAT = 3;
const RATE = 500;
const CLIENTS = 64;
/** The first part is left out of the comparison: caches and the compiler still grow. */
const WARM_UP_SHARE = 1 / 3;
/** Part of a window in which the control is measured; the service rests meanwhile. */
const CONTROL_SHARE = 0.1;
const CONSTANT = '{"jsonrpc":"2.0","id":1,"result":"0xde0b6b3a7640000"}';

interface Window {
  readonly atSeconds: number;
  readonly megabytes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly controlP99Ms: number;
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
      const bare = await startBareBun(rig, CONSTANT);
      const control = targetOf(bare, balanceRequests, RPC_EXPECTS);
      const rows: Row[] = [];
      const series: Series[] = [];
      for (const { service, target } of services) {
        const windows: Window[] = [];
        const startedAt = performance.now();
        for (let window = 0; window < bench.repeats * WINDOWS_PER_REPEAT; window++) {
          const seen = await measureWindow({ rig, service, target, control }, bench.seconds);
          const atSeconds = (performance.now() - startedAt) / 1_000;
          windows.push({ ...seen, atSeconds });
          bench.progress(progressOf(service.label, atSeconds, seen));
        }
        rows.push(toRow(service.label, windows));
        series.push(
          toSeries(`${service.label}: resident memory`, "MB", windows, "megabytes"),
          toSeries(`${service.label}: p99 latency`, "ms", windows, "p99Ms"),
          toSeries(`${service.label}: time waited for the core`, "share", windows, "coreWaitShare"),
          toSeries("bare Bun.serve, constant: p99 latency", "ms", windows, "controlP99Ms"),
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
          "The bare server is asked at the same rate between the windows. coreWaitShare is how long the service waited for its core while something else had it: where it is not near 0, the p99 beside it is the machine's.",
          BUSY_MIX,
        ],
      };
    }),
};

const grown = (after: number | undefined, since: number | undefined) =>
  (after ?? Number.NaN) - (since ?? Number.NaN);

async function measureWindow(
  run: {
    readonly rig: Rig;
    readonly service: RunningService;
    readonly target: Target;
    readonly control: Target;
  },
  seconds: number,
): Promise<Omit<Window, "atSeconds">> {
  const { rig, service, target, control } = run;
  const { pid } = service.child;
  const before = { cpuMicros: cpuMicros(pid), waitMs: coreWaitMs(pid) };
  const load = { clients: CLIENTS, rate: RATE, isGentle: true };
  const report = await runLoad({ target, seconds, ...load }, rig.dir);
  const usedMicros = grown(cpuMicros(pid), before.cpuMicros);
  const waitedMs = grown(coreWaitMs(pid), before.waitMs);
  const megabytes = residentMegabytes(pid);
  const bare = await runLoad(
    { target: control, seconds: seconds * CONTROL_SHARE, ...load },
    rig.dir,
  );
  return {
    megabytes,
    p50Ms: report.p50Ms,
    p99Ms: report.p99Ms,
    controlP99Ms: bare.p99Ms,
    cpuMicrosPerAnswer: usedMicros / report.answers,
    coreWaitShare: waitedMs / 1_000 / seconds,
    failures: report.failures,
  };
}

function progressOf(label: string, atSeconds: number, seen: Omit<Window, "atSeconds">): string {
  const { megabytes, p99Ms, controlP99Ms, coreWaitShare, failures } = seen;
  return (
    `${label} after ${atSeconds.toFixed(0)} s: ${megabytes.toFixed(0)} MB, ` +
    `p99 ${p99Ms.toFixed(1)} ms (bare ${controlP99Ms.toFixed(1)} ms, ` +
    `waited ${(coreWaitShare * 100).toFixed(0)} %), ${failures} failures`
  );
}

function toRow(name: string, windows: readonly Window[]): Row {
  const steady = windows.slice(Math.floor(windows.length * WARM_UP_SHARE));
  return {
    name,
    ratio: undefined,
    figures: {
      residentMB: summarise(steady.map(({ megabytes }) => megabytes)),
      growthMBPerMinute: summarise([slope(steady, "megabytes") * 60]),
      p50Ms: summarise(steady.map(({ p50Ms }) => p50Ms)),
      p99Ms: summarise(steady.map(({ p99Ms }) => p99Ms)),
      growthP99MsPerMinute: summarise([slope(steady, "p99Ms") * 60]),
      bareP99Ms: summarise(steady.map(({ controlP99Ms }) => controlP99Ms)),
      cpuMicrosPerAnswer: summarise(steady.map(({ cpuMicrosPerAnswer }) => cpuMicrosPerAnswer)),
      coreWaitShare: summarise(steady.map(({ coreWaitShare }) => coreWaitShare)),
      failures: summarise([windows.reduce((sum, { failures }) => sum + failures, 0)]),
    },
  };
}

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Least-squares slope of a figure over time, per second. */
function slope(windows: readonly Window[], figure: "megabytes" | "p99Ms"): number {
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
  figure: "megabytes" | "p99Ms" | "controlP99Ms" | "coreWaitShare",
): Series {
  return { title, unit, points: windows.map((window) => [window.atSeconds, window[figure]]) };
}

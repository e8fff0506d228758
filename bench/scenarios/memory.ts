import { serviceTarget } from "../candidates.ts";
import { summarise } from "../compareCandidates.ts";
import { runLoad } from "../load/run.ts";
import { residentMegabytes } from "../rig/memory.ts";
import { nodesConfig, startService } from "../rig/service.ts";
import { startNode } from "../rig/upstream.ts";
import type { Result, Row, Scenario, Series } from "../scenario.ts";
import { mixedRequests, RPC_EXPECTS, RPC_PATH } from "./rpcRequests.ts";

const RATE = 2_000;
/** The first part is left out of the comparison: caches and the compiler still grow. */
const WARM_UP_SHARE = 1 / 3;

interface Window {
  readonly atSeconds: number;
  readonly megabytes: number;
  readonly p99Ms: number;
  readonly failures: number;
}

/** Resident memory and latency under a steady load; `--seconds` is the length of one window. */
export const memory: Scenario = {
  name: "memory",
  title: `memory over time at ${RATE} mixed calls per second (open loop)`,
  async run(bench): Promise<Result> {
    const node = await startNode(bench.rig);
    const rows: Row[] = [];
    const series: Series[] = [];
    for (const source of bench.sources) {
      const service = await startService(bench.rig, source, nodesConfig([node.url]));
      const target = serviceTarget(service, mixedRequests, RPC_EXPECTS, RPC_PATH);
      const windows: Window[] = [];
      const startedAt = performance.now();
      for (let window = 0; window < bench.repeats * 3; window++) {
        const job = { target, seconds: bench.seconds, clients: 64, rate: RATE };
        const { p99Ms, failures } = await runLoad(job, bench.rig.dir);
        const megabytes = residentMegabytes(service.child.pid);
        const atSeconds = (performance.now() - startedAt) / 1_000;
        windows.push({ atSeconds, megabytes, p99Ms, failures });
        bench.progress(
          `${service.label} after ${atSeconds.toFixed(0)} s: ${megabytes.toFixed(0)} MB`,
        );
      }
      rows.push(toRow(service.label, windows));
      series.push(
        toSeries(`${service.label}: resident memory`, "MB", windows, "megabytes"),
        toSeries(`${service.label}: p99 latency`, "ms", windows, "p99Ms"),
      );
    }
    return {
      scenario: this.name,
      title: this.title,
      headline: "residentMB",
      baseline: undefined,
      rows,
      series,
      notes: ["growthMBPerMinute is the slope after the first third of the run."],
    };
  },
};

function toRow(name: string, windows: readonly Window[]): Row {
  const steady = windows.slice(Math.floor(windows.length * WARM_UP_SHARE));
  return {
    name,
    ratio: undefined,
    figures: {
      residentMB: summarise(steady.map(({ megabytes }) => megabytes)),
      growthMBPerMinute: summarise([slope(steady) * 60]),
      p99Ms: summarise(steady.map(({ p99Ms }) => p99Ms)),
      failures: summarise([windows.reduce((sum, { failures }) => sum + failures, 0)]),
    },
  };
}

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Least-squares slope of memory over time, MB per second. */
function slope(windows: readonly Window[]): number {
  const meanAt = mean(windows.map(({ atSeconds }) => atSeconds));
  const meanMb = mean(windows.map(({ megabytes }) => megabytes));
  let above = 0;
  let below = 0;
  for (const { atSeconds, megabytes } of windows) {
    above += (atSeconds - meanAt) * (megabytes - meanMb);
    below += (atSeconds - meanAt) ** 2;
  }
  return below === 0 ? 0 : above / below;
}

function toSeries(
  title: string,
  unit: string,
  windows: readonly Window[],
  figure: "megabytes" | "p99Ms",
): Series {
  return { title, unit, points: windows.map((window) => [window.atSeconds, window[figure]]) };
}

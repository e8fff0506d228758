import { join } from "node:path";
import { placed } from "../rig/machine.ts";
import type { LoadJob, LoadReport } from "./job.ts";
import { readWrkReport, wrkCommand } from "./wrk.ts";

const wrk = Bun.which("wrk");

/** The tool closed-loop runs are made with. */
export const closedLoopTool = wrk ? "wrk" : "own generator";

/**
 * Runs a job in a process of its own on the load's cores: closed loops with wrk where it is
 * installed, everything else with the own generator.
 * @param dir - for the tool's files
 */
export async function runLoad(job: LoadJob, dir: string): Promise<LoadReport> {
  const useWrk = wrk !== null && job.rate === undefined;
  const command = useWrk
    ? wrkCommand(wrk, job, dir)
    : [process.execPath, join(import.meta.dir, "generator.ts")];
  const child = Bun.spawn(
    placed("load", command, { idle: job.rate !== undefined && !job.isGentle }),
    {
      stdin: useWrk ? "ignore" : new Blob([JSON.stringify(job)]),
      stdout: "pipe",
      stderr: "pipe",
    },
  );
  const limit = setTimeout(() => child.kill(), (job.seconds + 60) * 1_000);
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  clearTimeout(limit);
  if ((await child.exited) !== 0) throw new Error(`the load generator failed: ${errors}${output}`);
  return useWrk ? readWrkReport(output) : JSON.parse(output);
}

import { systemClock } from "./lib/clock.ts";
import type { Logger } from "./telemetry/index.ts";

/** Tells a process that it is one of several on a port. */
export const WORKER_FLAG = "--worker";
/** A worker that ended is replaced after this, ms. */
const RESTART_GAP_MS = 1_000;

/**
 * Runs the service as several processes on one port, replaces one that ends, and passes signals on.
 * @param command - starts one worker
 * @returns when all have ended after a signal to stop
 */
export async function superviseWorkers(
  count: number,
  command: readonly string[],
  log: Logger,
): Promise<void> {
  const children = new Set<ReturnType<typeof startWorker>>();
  const stopping = new AbortController();

  const signalAll = (signal: NodeJS.Signals) => {
    for (const child of children) child.kill(signal);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      stopping.abort();
      signalAll(signal);
    });
  }
  process.on("SIGHUP", () => signalAll("SIGHUP"));

  const keep = async (worker: number) => {
    while (!stopping.signal.aborted) {
      const child = startWorker(command);
      children.add(child);
      const code = await child.exited;
      children.delete(child);
      if (stopping.signal.aborted) return;
      log.error({ worker, code }, "a worker ended and is replaced");
      await systemClock.sleep(RESTART_GAP_MS);
    }
  };
  await Promise.all(Array.from({ length: count }, (_, worker) => keep(worker)));
}

/** The pipe ends with this process, however it ends, and the worker with the pipe. */
function startWorker(command: readonly string[]) {
  return Bun.spawn([...command, WORKER_FLAG], {
    stdin: "pipe",
    stdout: "inherit",
    stderr: "inherit",
  });
}

/** Calls back when the process that started this worker is gone. */
export async function onSupervisorGone(callback: () => void): Promise<void> {
  await Bun.stdin.stream().pipeTo(new WritableStream());
  callback();
}

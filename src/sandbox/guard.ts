import { rmSync } from "node:fs";

/**
 * Cleans up when standard input closes, which it does however the process on the other end died.
 * Lines of the input say what: `+pid` and `-pid` add and remove a process to end, `/path` adds a
 * directory to remove.
 */
const KILL_AFTER_MS = 3_000;

async function guard(): Promise<void> {
  const pids = new Set<number>();
  const directories: string[] = [];
  for await (const line of console) {
    if (line.startsWith("+")) pids.add(Number(line.slice(1)));
    else if (line.startsWith("-")) pids.delete(Number(line.slice(1)));
    else directories.push(line);
  }
  signalAll(pids, "SIGTERM");
  const deadline = performance.now() + KILL_AFTER_MS;
  while (pids.size > 0 && performance.now() < deadline) {
    await Bun.sleep(50);
    signalAll(pids, 0);
  }
  signalAll(pids, "SIGKILL");
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
}

/** Signals every process, and forgets those that are gone; signal 0 only looks. */
function signalAll(pids: Set<number>, signal: NodeJS.Signals | 0): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      pids.delete(pid);
    }
  }
}

// A terminal's Ctrl-C reaches this process too; it must outlive the one it guards.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
void guard().then(() => process.exit(0));

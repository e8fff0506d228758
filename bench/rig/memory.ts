import { readFileSync } from "node:fs";

/** Resident memory of a process, MB. */
export function residentMegabytes(pid: number): number {
  try {
    const line = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    if (line) return Number(line) / 1_000;
  } catch {
    // Not Linux: ask ps.
  }
  const { stdout } = Bun.spawnSync(["ps", "-o", "rss=", "-p", String(pid)]);
  return Number(String(stdout).trim()) / 1_000;
}

const WATCH_EVERY_MS = 200;

/** Watches a process's resident memory; `stop` gives the highest seen, MB. */
export function watchMemory(pid: number): { stop(): number } {
  let highest = residentMegabytes(pid);
  const timer = setInterval(() => {
    highest = Math.max(highest, residentMegabytes(pid));
  }, WATCH_EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      return highest;
    },
  };
}

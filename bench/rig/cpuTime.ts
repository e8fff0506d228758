import { readFileSync } from "node:fs";

/** Length of the unit Linux reports CPU times in (USER_HZ), µs. */
const TICK_MICROS = 10_000;

/**
 * CPU time a process and its children have used on all threads, µs, to the nearest 10 ms. Threads
 * that have ended are included: a runtime ends helpers as it goes, and a sum over those that live
 * would lose all they had used.
 * @returns undefined where the system does not tell (it is read from Linux's /proc)
 */
export function cpuMicros(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name before may hold spaces and brackets; user and system time are 12th and 13th behind.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const own = (Number(fields[11]) + Number(fields[12])) * TICK_MICROS;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    const ofChildren =
      children === "" ? [] : children.split(" ").map((id) => cpuMicros(Number(id)));
    return ofChildren.reduce<number>((sum, micros) => sum + (micros ?? 0), own);
  } catch {
    return undefined;
  }
}

/**
 * Time a process's main thread was ready to run and another had its core, ms since its start.
 * @returns undefined where the system does not tell
 */
export function coreWaitMs(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e6;
  } catch {
    return undefined;
  }
}

import { readdirSync, readFileSync } from "node:fs";

/**
 * CPU time a process and its children have used on all threads, µs.
 * @returns undefined where the system does not tell (it is read from Linux's /proc)
 */
export function cpuMicros(pid: number): number | undefined {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`);
    let total = 0;
    for (const task of tasks) {
      total += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]);
    }
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    const ofChildren =
      children === "" ? [] : children.split(" ").map((id) => cpuMicros(Number(id)));
    return ofChildren.reduce<number>((sum, micros) => sum + (micros ?? 0), total / 1_000);
  } catch {
    return undefined;
  }
}

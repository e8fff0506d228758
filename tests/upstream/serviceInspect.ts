import { heapStats } from "bun:jsc";
import { writeFileSync } from "node:fs";

/** What a process says of itself after a full collection. */
export interface Inspection {
  readonly timers: number;
  readonly heapMib: number;
}

/**
 * Preloaded into the service under load: on SIGUSR2 it writes, into the file named by
 * `INSPECTION_FILE`, what no one outside can see.
 */
process.on("SIGUSR2", () => {
  Bun.gc(true);
  const { objectTypeCounts, heapSize } = heapStats();
  const inspection: Inspection = {
    timers: objectTypeCounts["Timeout"] ?? 0,
    heapMib: Math.round(heapSize / 1_048_576),
  };
  writeFileSync(process.env["INSPECTION_FILE"] ?? "", JSON.stringify(inspection));
});

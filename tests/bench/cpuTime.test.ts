import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { cpuMicros } from "../../bench/rig/cpuTime.ts";

/** A worker burns CPU time and ends; then the process says so and waits. */
const program = `
const worker = new Worker(URL.createObjectURL(new Blob([\`
  const untilMs = performance.now() + 400;
  while (performance.now() < untilMs) {}
  postMessage(process.cpuUsage().user);
\`])));
worker.onmessage = async () => {
  await worker.terminate();
  console.log("ended");
};
setInterval(() => {}, 1_000);
`;

test.if(existsSync("/proc/self/stat"))(
  "time of threads that have ended is not lost",
  async () => {
    const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe" });
    try {
      const reader = child.stdout.getReader();
      await reader.read();
      const atEnd = cpuMicros(child.pid) ?? 0;
      await Bun.sleep(300);
      expect(atEnd).toBeGreaterThan(50_000);
      // The thread is gone by now; what it used must still be there.
      expect(cpuMicros(child.pid) ?? 0).toBeGreaterThanOrEqual(atEnd);
    } finally {
      child.kill();
      await child.exited;
    }
  },
  20_000,
);

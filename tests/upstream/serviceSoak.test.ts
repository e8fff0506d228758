import { expect, test } from "bun:test";
import type { ServiceSoakResult } from "./serviceSoak.ts";

test("the whole service under load with faults, leaving callers, batches and sockets leaves nothing over", async () => {
  const run = Bun.spawn([process.execPath, `${import.meta.dir}/serviceSoak.ts`, "0.08"], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const result = JSON.parse(await new Response(run.stdout).text()) as ServiceSoakResult;
  expect(result.calls).toBeGreaterThan(200);
  expect(result.batches).toBeGreaterThan(0);
  expect(result.socketsOpened).toBeGreaterThan(0);
  expect(result.failed / result.calls).toBeLessThan(0.05);
  expect(result.socketsAfter).toBeLessThanOrEqual(result.socketsBefore);
  // A retry's backoff may still wait; what a leak would leave is one per call.
  expect(result.after.timers).toBeLessThan(result.before.timers + 20);
}, 120_000);

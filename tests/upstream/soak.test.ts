import { expect, test } from "bun:test";
import { growthMib, type SoakResult } from "./soak.ts";

test("after a load with faults and callers who leave, no socket and no timer is left over", async () => {
  const run = Bun.spawn([process.execPath, `${import.meta.dir}/soak.ts`, "0.1"], {
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: "16384" },
    stdout: "pipe",
  });
  const result = JSON.parse(await new Response(run.stdout).text()) as SoakResult;
  expect(result.calls).toBeGreaterThan(2_000);
  expect(result.failed / result.calls).toBeLessThan(0.05);
  expect(result.socketsLeft).toBeLessThanOrEqual(0);
  expect(result.timersLeft).toEqual([]);
  expect(growthMib(result)).toBeLessThan(120);
}, 60_000);

import { describe, expect, test } from "bun:test";
import type { LoadConnection } from "../../bench/load/connection.ts";
import { runOpenLoop } from "../../bench/load/openLoop.ts";
import { Tally } from "../../bench/load/tally.ts";

const STALL_MS = 200;

describe("open loop", () => {
  test("a server that stalls once is charged for every request that had to wait", async () => {
    const stalledAt = performance.now();
    const connection: LoadConnection = {
      isOpen: true,
      send(_request, done) {
        const leftMs = Math.max(0, stalledAt + STALL_MS - performance.now());
        setTimeout(() => done({ status: 200, bytes: 1, right: true }), leftMs);
      },
      close() {},
    };
    const tally = new Tally();
    await runOpenLoop([connection], () => "", tally, { rate: 500, seconds: 0.2 });
    const report = tally.report();
    expect(report.answers).toBe(100);
    expect(report.failures).toBe(0);
    // Of the requests due while it stalled, half were due in its first half.
    expect(report.p50Ms).toBeGreaterThan(STALL_MS / 4);
  });

  test("a gentle loop sends as many requests, if later", async () => {
    const connection: LoadConnection = {
      isOpen: true,
      send: (_request, done) => done({ status: 200, bytes: 1, right: true }),
      close() {},
    };
    const tally = new Tally();
    const load = { rate: 1_000, seconds: 0.05, isGentle: true };
    await runOpenLoop([connection], () => "", tally, load);
    expect(tally.report().answers).toBe(50);
  });
});

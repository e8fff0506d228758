import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Histogram } from "../../bench/load/histogram.ts";

describe("histogram", () => {
  test("quantiles are those of the recorded values, to 0.8 %", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 10_000_000 }), { minLength: 1, maxLength: 300 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (micros, share) => {
          const histogram = new Histogram();
          for (const us of micros) histogram.record(us / 1_000);
          const sorted = [...micros].sort((a, b) => a - b);
          const exact = sorted[Math.max(1, Math.ceil(sorted.length * share)) - 1] ?? 0;
          const estimated = histogram.quantileMs(share) * 1_000;
          expect(estimated).toBeGreaterThanOrEqual(exact - 1e-6);
          expect(estimated).toBeLessThanOrEqual(exact * 1.008 + 1e-6);
        },
      ),
    );
  });

  test("knows no latency before one is recorded", () => {
    expect(new Histogram().quantileMs(0.5)).toBeNaN();
  });
});

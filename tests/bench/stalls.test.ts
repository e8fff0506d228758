import { describe, expect, test } from "bun:test";
import { SlicedLatencies, undisturbed } from "../../bench/load/slices.ts";
import { intersections } from "../../bench/rig/stalls.ts";

describe("stalls of the machine", () => {
  test("the machine stood still only where neither sleeper could wake", () => {
    const server = [
      [10, 30],
      [50, 60],
      [100, 200],
    ] as const;
    const load = [
      [20, 55],
      [110, 120],
      [150, 300],
    ] as const;
    expect(intersections(server, load)).toEqual([
      [20, 30],
      [50, 55],
      [110, 120],
      [150, 200],
    ]);
    expect(intersections(server, [])).toEqual([]);
  });

  test("leaves out what was due in a stall or as long after it, and nothing else", () => {
    const latencies = new SlicedLatencies();
    latencies.record(0, 1);
    latencies.record(260, 2);
    latencies.record(510, 3);
    latencies.record(900, 4);
    const slices = latencies.report();
    expect(slices).toHaveLength(4);
    const startedAt = slices[0]?.fromMs ?? 0;
    const stall = [startedAt + 400, startedAt + 460] as const;
    const { latencies: left, leftOutShare } = undisturbed(slices, [stall]);
    expect(leftOutShare).toBe(0.5);
    expect(left.total).toBe(2);
    expect(left.quantileMs(0.5)).toBeCloseTo(1, 1);
    expect(left.quantileMs(1)).toBeCloseTo(4, 1);
    expect(undisturbed(slices, []).latencies.total).toBe(4);
  });
});

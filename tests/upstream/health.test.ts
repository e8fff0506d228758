import { describe, expect, test } from "bun:test";
import { seededRandom } from "../../src/lib/clock.ts";
import { RetryBudget } from "../../src/upstream/budget.ts";
import { choose } from "../../src/upstream/choose.ts";
import {
  type CostContext,
  expectedCost,
  forgive,
  type Health,
  newHealth,
  p95Ms,
  readmit,
  recordAnswer,
  recordFailedProbe,
  recordFailure,
  recordOvertaken,
  totalCost,
} from "../../src/upstream/health.ts";

const context: CostContext = {
  nowMs: 0,
  inFlight: 0,
  maxConcurrent: 100,
  chainHead: undefined,
  blockTimeMs: 1_000,
};
const costMs = (health: Health, members: Partial<CostContext> = {}) =>
  totalCost(expectedCost(health, "read", { ...context, ...members }));

/** Health after so many answers of one latency, at time 0. */
function after(latencyMs: number, failures = 0): Health {
  const health = newHealth();
  for (let n = 0; n < 20; n++) recordAnswer(health, "read", latencyMs, 0);
  for (let n = 0; n < failures; n++) recordFailure(health, "read", 0, false);
  return health;
}

describe("expected cost", () => {
  test("is the latency where nothing else is wrong", () => {
    expect(costMs(after(40))).toBeCloseTo(40);
  });

  test("one failure makes an upstream dearer than a healthy one half as quick", () => {
    expect(costMs(after(100, 1))).toBeGreaterThan(costMs(after(100)));
    expect(costMs(after(50, 2))).toBeGreaterThan(costMs(after(60)));
  });

  test("grows with the requests in flight", () => {
    expect(costMs(after(40), { inFlight: 100 })).toBeCloseTo(80);
  });

  test("counts lag in time, beyond what polling explains", () => {
    const health = after(10);
    health.head = 90;
    expect(costMs(health, { chainHead: 96 })).toBeCloseTo(10);
    expect(costMs(health, { chainHead: 100 })).toBeCloseTo(10_010);
    expect(costMs(health, { chainHead: 100, blockTimeMs: 250 })).toBeCloseTo(10);
  });

  test("bad news counts faster than good news", () => {
    const rising = after(10);
    recordAnswer(rising, "read", 110, 0);
    const falling = after(110);
    recordAnswer(falling, "read", 10, 0);
    expect(costMs(rising) - 10).toBeGreaterThan(110 - costMs(falling));
  });

  test("fades while unused, so that the upstream is tried again", () => {
    expect(costMs(after(100), { nowMs: 2_000 })).toBeCloseTo(50);
  });

  test("an answer after a pause counts more than one among many", () => {
    const idle = after(100);
    recordAnswer(idle, "read", 10, 1_000);
    expect(idle.classes.read.latencyMs).toBeCloseTo(55);
    const busy = after(100);
    recordAnswer(busy, "read", 10, 1);
    expect(busy.classes.read.latencyMs).toBeGreaterThan(85);
  });

  test("a class without answers of its own borrows those of reads", () => {
    expect(expectedCost(after(30), "heavy", context).latencyMs).toBeCloseTo(30);
  });

  test("p95 is above the usual and near it when answers are even", () => {
    expect(p95Ms(after(30), "read")).toBeGreaterThan(30);
    expect(p95Ms(after(30), "read")).toBeLessThan(40);
  });

  test("being overtaken raises the estimate, and the next answer replaces it", () => {
    const health = after(10);
    recordOvertaken(health, "read", 200, 0);
    expect(costMs(health)).toBe(400);
    recordAnswer(health, "read", 12, 0);
    expect(costMs(health)).toBe(12);
    recordOvertaken(health, "read", 1, 0);
    expect(costMs(health)).toBe(12);
  });
});

/** Whether an upstream that fails every other request is ejected. */
function isEjectedAtHalf(hasPeer: boolean): boolean {
  const health = newHealth();
  let ejected = false;
  for (let n = 0; n < 30; n++) {
    ejected = recordFailure(health, "read", 0, hasPeer) || ejected;
    recordAnswer(health, "read", 10, 0);
  }
  return ejected;
}

describe("ejection", () => {
  test("three failures in a row, and not before", () => {
    const health = after(10);
    const ejected = [1, 2, 3, 4].map(() => recordFailure(health, "read", 0, false));
    expect(ejected).toEqual([false, false, true, false]);
    expect(health.probeAtMs).toBe(250);
  });

  test("an answer between failures starts the count again", () => {
    const health = after(10);
    for (let n = 0; n < 10; n++) {
      expect(recordFailure(health, "read", 0, false)).toBe(false);
      expect(recordFailure(health, "read", 0, false)).toBe(false);
      recordAnswer(health, "read", 10, 0);
    }
  });

  test("more than 30 % errors, but only while another upstream is in use", () => {
    expect([isEjectedAtHalf(true), isEjectedAtHalf(false)]).toEqual([true, false]);
  });

  test("probes come at growing intervals, the first minutes within half a second", () => {
    const health = after(10, 3);
    const waits: number[] = [];
    for (let n = 0; n < 400; n++) {
      waits.push(health.probeAtMs!);
      recordFailedProbe(health, 0);
    }
    expect(waits.slice(0, 3)).toEqual([250, 500, 500]);
    expect(waits[200]).toBe(500);
    expect(waits.at(-1)).toBe(10_000);
  });

  test("one that is taken back starts clean, but one that keeps failing is probed less often", () => {
    const health = after(10, 3);
    readmit(health, 5, 0);
    expect(health.probeAtMs).toBeUndefined();
    expect(costMs(health)).toBe(5);
    for (let n = 0; n < 3; n++) recordFailure(health, "read", 0, false);
    expect(health.probeAtMs).toBe(500);
  });

  test("a brief interruption is forgiven, unless there was another lately", () => {
    const health = after(10, 1);
    forgive(health);
    expect(costMs(health)).toBeCloseTo(10);
    recordFailedProbe(health, 0);
    recordFailure(health, "read", 0, false);
    forgive(health);
    expect(costMs(health)).toBeGreaterThan(15);
  });
});

const shares = (candidates: { costMs: number; inFlight: number }[], seed: number) => {
  const random = seededRandom(seed);
  const counts = candidates.map(() => 0);
  for (let n = 0; n < 10_000; n++) {
    counts[candidates.indexOf(choose(candidates, random)!)]!++;
  }
  return counts;
};

describe("choice", () => {
  test("nothing to choose from", () => {
    expect(choose([], Math.random)).toBeUndefined();
  });

  test.each([2, 3, 5, 8])("%d equal upstreams share the load to within 1.2", (count) => {
    const counts = shares(
      Array.from({ length: count }, () => ({ costMs: 50, inFlight: 0 })),
      count,
    );
    expect(Math.max(...counts) / Math.min(...counts)).toBeLessThan(1.2);
  });

  test("those within a quarter of the cheapest take part, dearer ones do not", () => {
    const counts = shares(
      [100, 120, 140].map((cost) => ({ costMs: cost, inFlight: 0 })),
      1,
    );
    expect(counts[2]).toBe(0);
    expect(Math.min(counts[0]!, counts[1]!)).toBeGreaterThan(4_500);
  });

  test("of two, the less busy one", () => {
    expect(
      shares(
        [
          { costMs: 50, inFlight: 3 },
          { costMs: 50, inFlight: 0 },
        ],
        1,
      ),
    ).toEqual([0, 10_000]);
  });
});

describe("budget of retries and hedges", () => {
  test("is a share of the calls, beside a small reserve", () => {
    const budget = new RetryBudget(() => 0);
    let granted = 0;
    for (let n = 0; n < 1_000; n++) {
      budget.deposit();
      if (budget.withdraw()) granted++;
    }
    expect(granted).toBeGreaterThanOrEqual(150);
    expect(granted).toBeLessThanOrEqual(160);
  });

  test("what was saved fades, so a quiet hour pays for no storm", () => {
    let nowMs = 0;
    const budget = new RetryBudget(() => nowMs);
    for (let n = 0; n < 1_000; n++) budget.deposit();
    nowMs = 3_600_000;
    let granted = 0;
    while (budget.withdraw()) granted++;
    expect(granted).toBe(10);
  });
});

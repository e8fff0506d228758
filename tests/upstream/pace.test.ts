import { describe, expect, test } from "bun:test";
import { seededRandom } from "../../src/lib/clock.ts";
import { VendorHold, vendorKey } from "../../src/upstream/accounts.ts";
import { Pace } from "../../src/upstream/limits.ts";
import {
  bucketLimit,
  fixedLimit,
  type Limit,
  playTraffic,
  slidingLimit,
  sum,
  type Traffic,
} from "./vendor.ts";

/** Most of these moments within any window of this length. */
function mostWithin(momentsMs: readonly number[], windowMs: number): number {
  const sorted = momentsMs.toSorted((a, b) => a - b);
  let most = 0;
  let first = 0;
  for (let last = 0; last < sorted.length; last++) {
    while ((sorted[first] ?? 0) <= (sorted[last] ?? 0) - windowMs) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

const none: Limit = () => true;

describe("a declared rate", () => {
  test.each([
    ["at double demand", 100, 50, 5],
    ["with answers that take long", 50, 25, 250],
    ["of one request per second", 10, 1, 20],
    ["in bursts", 5_000, 200, 30],
  ])("is kept to in every second and minute, %s", (_, demand, perSecond, latencyMs) => {
    const pace = new Pace({ perSecond });
    const { arrivals } = playTraffic({ pace, limit: none, seconds: 70, demand, latencyMs });
    expect(mostWithin(arrivals, 1_000)).toBeLessThanOrEqual(perSecond);
    expect(mostWithin(arrivals, 60_000)).toBeLessThanOrEqual(60 * perSecond);
    // Time on the way is paid for; little else is.
    expect(arrivals.length).toBeGreaterThan(70 * perSecond * 0.85);
  });

  test("the lowest of several declarations of one account holds", () => {
    const pace = new Pace({ perSecond: 100 });
    pace.declare(20);
    pace.declare(undefined);
    pace.declare(50);
    const { arrivals } = playTraffic({ pace, limit: none, seconds: 5, demand: 200, latencyMs: 2 });
    expect(mostWithin(arrivals, 1_000)).toBe(20);
  });

  test("callers leave a place to the watch", () => {
    const pace = new Pace({ perSecond: 2 });
    pace.spend(1);
    const stopWaiting = pace.awaitWatch();
    expect(pace.waitMs(2)).toBeGreaterThan(0);
    expect(pace.waitMs(2, true)).toBe(0);
    stopWaiting();
    expect(pace.waitMs(2)).toBe(0);
  });
});

/** Share of the cap that was accepted, and of refusals, after the first thirty seconds. */
function steady({ sent, refused }: Traffic, perSecond: number) {
  const laterSent = sum(sent.slice(30));
  const laterRefused = sum(refused.slice(30));
  const seconds = sent.length - 30;
  return {
    accepted: (laterSent - laterRefused) / seconds / perSecond,
    refused: laterRefused / laterSent,
  };
}

/** Time until the next window of the clock, in whole seconds. */
const untilNext = (windowMs: number) => (nowMs: number) =>
  1_000 * Math.ceil((windowMs - (nowMs % windowMs)) / 1_000);

describe("a hidden cap", () => {
  const caps: [string, () => Limit, number][] = [
    ["20 in any second", () => slidingLimit(20), 20],
    ["100 in any second", () => slidingLimit(100), 100],
    ["1,000 in any second", () => slidingLimit(1_000), 1_000],
    ["25 in each second of the clock", () => fixedLimit(25), 25],
    ["100 in each second of the clock", () => fixedLimit(100), 100],
    ["a bucket of 100 with 100 per second", () => bucketLimit(100, 100), 100],
    ["a bucket of 10 with 50 per second", () => bucketLimit(50, 10), 50],
  ];
  for (const [name, limit, perSecond] of caps) {
    for (const factor of [2, 10]) {
      test(`of ${name} is found within 10 % in 30 s at ${factor} times the demand`, () => {
        const demand = perSecond * factor;
        const traffic = playTraffic({ limit: limit(), seconds: 90, demand, latencyMs: 20 });
        const { accepted, refused } = steady(traffic, perSecond);
        expect(accepted).toBeGreaterThan(0.9);
        expect(accepted).toBeLessThan(1.1);
        expect(refused).toBeLessThan(0.01);
        const learned = traffic.pace.status(90_000).learnedPerSecond ?? 0;
        expect(learned / perSecond).toBeWithin(0.9, 1.1);
      });
    }
  }

  /** The limit, its average per second, and the seconds until a window was met twice. */
  const long: [string, () => Limit, number, number][] = [
    ["500 in any ten seconds", () => slidingLimit(500, 10_000), 50, 30],
    ["500 in each ten seconds of the clock", () => fixedLimit(500, 10_000), 50, 30],
    ["250 in each five seconds of the clock", () => fixedLimit(250, 5_000), 50, 30],
    ["1,500 in any thirty seconds", () => slidingLimit(1_500, 30_000), 50, 120],
    ["300 in any minute", () => slidingLimit(300, 60_000), 5, 240],
    ["3,000 in each minute of the clock", () => fixedLimit(3_000, 60_000), 50, 240],
  ];
  test.each(long)(
    "of %s is found within 10 %% once its window is known, and kept to without bursts",
    (_, limit, perSecond, knownAfter) => {
      const seconds = knownAfter + 240;
      const demand = 4 * perSecond;
      const traffic = playTraffic({ limit: limit(), seconds, demand, latencyMs: 20 });
      const accepted = sum(traffic.sent.slice(knownAfter)) - sum(traffic.refused.slice(knownAfter));
      expect(accepted / 240 / perSecond).toBeWithin(0.9, 1.05);
      expect(sum(traffic.refused.slice(knownAfter)) / accepted).toBeLessThan(0.01);
      expect(Math.max(...traffic.sent.slice(knownAfter))).toBeLessThan(1.4 * perSecond + 2);
    },
  );

  /** The limit, its average per second, from which second on it is known, what a refusal asks for. */
  const forms: [string, () => Limit, number, number, ((nowMs: number) => number) | undefined][] = [
    ["100 in any second", () => slidingLimit(100), 100, 30, undefined],
    ["100 in any second, with Retry-After", () => slidingLimit(100), 100, 30, () => 1_000],
    ["100 in each second", () => fixedLimit(100), 100, 30, undefined],
    ["100 in each second, with Retry-After", () => fixedLimit(100), 100, 30, () => 1_000],
    ["500 in any ten seconds", () => slidingLimit(500, 10_000), 50, 90, undefined],
    ["500 in each ten seconds", () => fixedLimit(500, 10_000), 50, 90, undefined],
    [
      "500 in each ten seconds, with Retry-After",
      () => fixedLimit(500, 10_000),
      50,
      90,
      untilNext(10_000),
    ],
    ["1,200 in each minute", () => fixedLimit(1_200, 60_000), 20, 360, undefined],
    [
      "1,200 in each minute, with Retry-After",
      () => fixedLimit(1_200, 60_000),
      20,
      360,
      untilNext(60_000),
    ],
  ];
  test.each(forms)(
    "of %s stays known within 10 %% at any demand, latency and moment of start, under 1 %% refused",
    (_, limit, perSecond, knownAfter, retryAfterMs) => {
      for (let seed = 1; seed <= 20; seed++) {
        const vendor = limit();
        const startMs = 60_000 * seededRandom(seed)();
        const { sent, refused, learned } = playTraffic({
          limit: (nowMs) => vendor(nowMs + startMs),
          seconds: knownAfter + 60,
          demand: perSecond * ([2, 4, 10][seed % 3] ?? 1),
          latencyMs: [5, 20, 60, 150][seed % 4] ?? 1,
          seed,
          ...(retryAfterMs && { retryAfterMs: (nowMs: number) => retryAfterMs(nowMs + startMs) }),
        });
        const known = learned.slice(knownAfter);
        const outside = known.filter((rate) => Math.abs(rate / perSecond - 1) > 0.1);
        expect([seed, outside]).toEqual([seed, []]);
        expect(sum(refused.slice(knownAfter)) / sum(sent.slice(knownAfter))).toBeLessThan(0.01);
      }
    },
    30_000,
  );

  test("that was lifted is noticed within a minute, and one that came down within a second", () => {
    let limit = slidingLimit(50);
    const lifted = playTraffic({
      limit: (nowMs) => {
        if (nowMs > 30_000) limit = none;
        return limit(nowMs);
      },
      seconds: 90,
      demand: 200,
      latencyMs: 10,
    });
    expect(sum(lifted.sent.slice(85))).toBeGreaterThan(5 * 190);

    let now = slidingLimit(200);
    let isLow = false;
    const lowered = playTraffic({
      limit: (nowMs) => {
        if (nowMs > 30_000 && !isLow) {
          isLow = true;
          now = slidingLimit(50);
        }
        return now(nowMs);
      },
      seconds: 60,
      demand: 400,
      latencyMs: 10,
    });
    // In the first second after the change it stops; then it finds the new cap.
    expect(sum(lowered.refused.slice(31, 32))).toBeLessThan(10);
    expect(sum(lowered.sent.slice(50)) / 10 / 50).toBeWithin(0.85, 1.1);
  });

  test.each([0.01, 0.03, 0.08, 0.15])(
    "is not seen where %d of all requests are refused at any rate",
    (share) => {
      const random = seededRandom(5);
      const limit = () => random() >= share;
      const traffic = playTraffic({ limit, seconds: 60, demand: 400, latencyMs: 10 });
      expect(sum(traffic.sent.slice(30)) / 30).toBeGreaterThan(380);
    },
  );

  test("is not sought while callers do not press", () => {
    const traffic = playTraffic({
      limit: slidingLimit(50),
      seconds: 60,
      demand: (second) => (second < 3 ? 200 : 10),
      latencyMs: 10,
    });
    expect(sum(traffic.refused.slice(4))).toBe(0);
    expect(sum(traffic.sent.slice(10))).toBeGreaterThan(50 * 9.9);
  });
});

/** Has a pace's request refused at once. */
function refusedAt(pace: Pace, nowMs: number, retryAfterMs?: number): void {
  const sent = pace.spend(nowMs);
  pace.settle(sent, nowMs);
  pace.refuse(sent, nowMs, retryAfterMs);
}

describe("a refusal", () => {
  test("holds the account for as long as was asked, and for a moment at least", () => {
    const pace = new Pace();
    refusedAt(pace, 1_000, 3_000);
    expect(pace.waitMs(1_000)).toBe(3_000);
    expect(pace.waitMs(4_000)).toBe(0);
    const other = new Pace();
    refusedAt(other, 1_000, 0);
    expect(other.waitMs(1_000)).toBe(1_000);
  });

  test("that names a day is believed for an hour", () => {
    const pace = new Pace();
    refusedAt(pace, 1_000, 86_400_000);
    expect(pace.waitMs(1_000)).toBe(3_600_000);
  });

  test("of requests sent together is one event", () => {
    const pace = new Pace();
    const sent = Array.from({ length: 50 }, () => pace.spend(1));
    for (const one of sent) pace.refuse(one, 2, undefined);
    expect(pace.waitMs(2)).toBe(1_000);
    expect(pace.status(2).refusals).toBe(1);
  });

  test("is followed by one request that tries, not by all who waited", () => {
    const pace = new Pace();
    refusedAt(pace, 1_000);
    const trial = pace.spend(2_001);
    expect(pace.waitMs(2_001)).toBeGreaterThan(0);
    pace.settle(trial, 2_010);
    pace.accept(trial, 2_010);
    expect(pace.waitMs(5_000)).toBe(0);
  });

  test("repeated for ten minutes costs the vendor a request every ten seconds, and ends with it", () => {
    let isOpen = false;
    const traffic = playTraffic({
      limit: (nowMs) => (isOpen = isOpen || nowMs > 600_000),
      seconds: 640,
      demand: 100,
      latencyMs: 10,
    });
    expect(sum(traffic.sent.slice(0, 600))).toBeLessThan(110);
    expect(sum(traffic.sent.slice(630))).toBeGreaterThan(10 * 90);
  });
});

describe("accounts that are likely one", () => {
  test.each([
    [
      "https://eth.vendor.io/v2/abcdef0123456789",
      "https://base.vendor.io/v2/abcdef0123456789",
      true,
    ],
    [
      "https://eth.vendor.io/v2/abcdef0123456789",
      "https://eth.vendor.io/v2/zyxwvu9876543210",
      false,
    ],
    [
      "https://a.vendor.co.uk/?key=abcdef0123456789",
      "https://b.vendor.co.uk/?key=abcdef0123456789",
      true,
    ],
    ["https://a.one.co.uk/", "https://a.two.co.uk/", false],
    ["http://127.0.0.1:8545/", "http://127.0.0.1:8546/", false],
    ["http://[::1]:8545/", "http://[::1]:8546/", false],
  ])("%s and %s: %p", (one, other, same) => {
    expect(vendorKey(new URL(one)) === vendorKey(new URL(other))).toBe(same);
  });

  test("are all held once two are, for the shorter of the two, and all freed by one answer", () => {
    const vendor = new VendorHold();
    const paces = [0, 1, 2].map(() => new Pace({ vendor }));
    const [first, second, third] = paces as [Pace, Pace, Pace];
    refusedAt(first, 1_000, 20_000);
    expect(third.waitMs(1_000)).toBe(0);
    refusedAt(second, 1_000, 5_000);
    expect(third.waitMs(1_000)).toBe(5_000);
    const trial = second.spend(6_001);
    second.accept(trial, 6_010);
    expect(third.waitMs(6_010)).toBe(0);
    expect(first.waitMs(6_010)).toBeGreaterThan(0);
  });
});

import { describe, expect, test } from "bun:test";
import { createMemoryWindow, decideWindow, type WindowState } from "../../src/access/window.ts";
import { seededRandom } from "../../src/lib/clock.ts";
import { ManualClock, startServer } from "./support.ts";

const windowMs = 60_000;

describe("decideWindow", () => {
  test("a window starts with the first request after the previous one ended", () => {
    const first = decideWindow(undefined, { now: 1_000, n: 1, limit: 2, windowMs });
    expect(first.decision).toEqual({ allowed: true, limit: 2, remaining: 1, resetAt: 61_000 });
    const last = decideWindow(first.state, { now: 60_999, n: 1, limit: 2, windowMs });
    expect(last.decision).toEqual({ allowed: true, limit: 2, remaining: 0, resetAt: 61_000 });
    const refused = decideWindow(last.state, { now: 60_999, n: 1, limit: 2, windowMs });
    expect(refused.decision.allowed).toBe(false);
    const next = decideWindow(refused.state, { now: 90_000, n: 1, limit: 2, windowMs });
    expect(next.decision).toEqual({ allowed: true, limit: 2, remaining: 1, resetAt: 150_000 });
  });

  test("a batch is taken whole or not at all", () => {
    const state: WindowState = { startedAt: 0, count: 95 };
    const refused = decideWindow(state, { now: 1, n: 6, limit: 100, windowMs });
    expect(refused.decision).toMatchObject({ allowed: false, remaining: 5 });
    expect(refused.state).toEqual(state);
    const taken = decideWindow(refused.state, { now: 1, n: 5, limit: 100, windowMs });
    expect(taken.decision).toMatchObject({ allowed: true, remaining: 0 });
  });

  test("a clock that is set back does not lock a key out", () => {
    const state: WindowState = { startedAt: 10_000_000, count: 100 };
    const { decision } = decideWindow(state, { now: 5_000, n: 1, limit: 100, windowMs });
    expect(decision).toMatchObject({ allowed: true, resetAt: 65_000 });
  });
});

describe("memory window", () => {
  test("over random traffic every window admits exactly what a plain count would", async () => {
    const random = seededRandom(7);
    const clock = new ManualClock(0);
    const window = createMemoryWindow(windowMs, clock);
    const limits = new Map(["a", "b", "c", "d"].map((key, i) => [key, 5 + i * 20]));
    const model = new Map<string, { end: number; used: number }>();
    for (let step = 0; step < 50_000; step++) {
      clock.advance(Math.floor(random() * 1_500));
      const key = "abcd"[Math.floor(random() * 4)]!;
      const n = 1 + Math.floor(random() * 4);
      const limit = limits.get(key)!;
      let expected = model.get(key);
      if (!expected || clock.now() >= expected.end) {
        expected = { end: clock.now() + windowMs, used: 0 };
        model.set(key, expected);
      }
      const allowed = expected.used + n <= limit;
      if (allowed) expected.used += n;
      expect(await window.take(key, n, limit)).toEqual({
        allowed,
        limit,
        remaining: limit - expected.used,
        resetAt: expected.end,
      });
    }
  });

  test("a client at 99 % of its rate for an hour is never refused", async () => {
    const clock = new ManualClock();
    const window = createMemoryWindow(windowMs, clock);
    for (let sent = 0; sent < 594 * 60; sent++) {
      clock.advance(sent % 99 === 0 ? 111 : 101);
      expect((await window.take("steady", 1, 600)).allowed).toBe(true);
    }
  });

  test("a slow client is not refused for never pausing a whole window", async () => {
    const clock = new ManualClock();
    const window = createMemoryWindow(windowMs, clock);
    for (let sent = 0; sent < 200; sent++) {
      expect((await window.take("slow", 1, 10)).allowed).toBe(true);
      clock.advance(30_000);
    }
  });

  test("keys that come and go do not disturb a window that is running", async () => {
    const clock = new ManualClock();
    const window = createMemoryWindow(windowMs, clock);
    await window.take("mine", 7, 10);
    for (let other = 0; other < 20_000; other++) await window.take(`other-${other}`, 1, 10);
    clock.advance(59_999);
    expect((await window.take("mine", 1, 10)).remaining).toBe(2);
  });
});

const idOf = (index: number) => `key_${Bun.hash(String(index)).toString(16).padStart(16, "0")}`;

test("the windows of a million keys are exact, each of them", async () => {
  const window = createMemoryWindow(windowMs, new ManualClock());
  const keys = 1_000_000;
  for (let index = 0; index < keys; index++) await window.take(idOf(index), 3, 4);
  let exact = 0;
  for (let index = 0; index < keys; index++) {
    if ((await window.take(idOf(index), 0, 4)).remaining === 1) exact++;
  }
  expect(exact).toBe(keys);
}, 30_000);

test("1,000 parallel requests on a limit of 100 admit exactly 100", async () => {
  await using server = await startServer();
  const { key, secret } = await server.newKey({ windowLimit: 100 });
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, async () => {
      const response = await server.request("/api/public/prices", secret);
      await response.bytes();
      return response;
    }),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(100);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(900);
  const remaining = answers
    .filter(({ status }) => status === 200)
    .map(({ headers }) => Number(headers.get("x-ratelimit-remaining")));
  expect(new Set(remaining).size).toBe(100);
  expect(await server.database.usage.totalCu(key.id, 0, 10_000_000)).toBe(100);
}, 60_000);

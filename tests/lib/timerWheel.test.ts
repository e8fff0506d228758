import { describe, expect, test } from "bun:test";
import { seededRandom } from "../../src/lib/clock.ts";
import { TimerWheel } from "../../src/lib/timerWheel.ts";

describe("a timer of the wheel", () => {
  test("is never early, and those due later run later", async () => {
    const wheel = new TimerWheel();
    const random = seededRandom(3);
    const done: { readonly dueMs: number; readonly atMs: number }[] = [];
    const waits = Array.from({ length: 500 }, () => Math.floor(random() * 120));
    await new Promise<void>((resolve) => {
      for (const ms of waits) {
        const dueMs = performance.now() + ms;
        wheel.set(ms, () => {
          done.push({ dueMs, atMs: performance.now() });
          if (done.length === waits.length) resolve();
        });
      }
    });
    expect(done.every(({ dueMs, atMs }) => atMs >= dueMs)).toBe(true);
  });

  test("that was taken back does not run, also when its neighbour takes it back", async () => {
    const wheel = new TimerWheel();
    const ran: string[] = [];
    const last = Promise.withResolvers<void>();
    wheel.set(1, () => ran.push("first"));
    const taken = wheel.set(1, () => ran.push("taken back"));
    wheel.set(1, () => other.clear());
    const other = wheel.set(1, () => ran.push("taken back by a neighbour"));
    wheel.set(30, () => last.resolve());
    taken.clear();
    taken.clear();
    await last.promise;
    expect(ran).toEqual(["first"]);
  });

  test("may set another one when it runs", async () => {
    const wheel = new TimerWheel();
    let runs = 0;
    await new Promise<void>((resolve) => {
      const again = () => (++runs === 5 ? resolve() : void wheel.set(0, again));
      wheel.set(0, again);
    });
    expect(runs).toBe(5);
  });

  test("set further ahead than the wheel is round waits for its turn", () => {
    let nowMs = 0;
    const wheel = new TimerWheel(() => nowMs);
    let ran = false;
    const timer = wheel.set(20_000, () => (ran = true));
    nowMs = 6_000;
    wheel.set(0, () => {});
    expect(ran).toBe(false);
    timer.clear();
  });

  test("that was taken back keeps none of those alive that came after it", async () => {
    const wheel = new TimerWheel(() => 0);
    const first = wheel.set(1_000, () => {});
    const later: WeakRef<object>[] = [];
    let before = first;
    for (let count = 0; count < 100; count++) {
      const next = wheel.set(1_000, () => {});
      before.clear();
      later.push(new WeakRef(next));
      before = next;
    }
    before.clear();
    before = first;
    // What the stack still refers to is gone in a later turn.
    await Bun.sleep(0);
    Bun.gc(true);
    expect(later.filter((timer) => timer.deref()).length).toBeLessThan(5);
    first.clear();
  });

  test("after a pause of the process all that are due run, and only those", async () => {
    let nowMs = 0;
    const wheel = new TimerWheel(() => nowMs);
    const ran: number[] = [];
    const timers = [10, 4_000, 9_000, 60_000].map((ms) => wheel.set(ms, () => void ran.push(ms)));
    nowMs = 30_000;
    while (ran.length < 3) await Bun.sleep(1);
    expect(ran.sort((a, b) => a - b)).toEqual([10, 4_000, 9_000]);
    timers[3]?.clear();
  });
});

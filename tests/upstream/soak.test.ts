import { expect, test } from "bun:test";
import { growthMib, soak } from "./soak.ts";

/** Counts timers that were set and neither ended nor cleared. */
function watchTimers() {
  const own = { setTimeout, setInterval, clearTimeout, clearInterval };
  const open = new Set<unknown>();
  const forget = (clear: (timer: Timer) => void) => (timer: Timer) => {
    open.delete(timer);
    clear(timer);
  };
  Object.assign(globalThis, {
    setTimeout: (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
      const timer = own.setTimeout(() => {
        open.delete(timer);
        run(...args);
      }, ms);
      open.add(timer);
      return timer;
    },
    setInterval: (run: () => void, ms?: number) => {
      const timer = own.setInterval(run, ms);
      open.add(timer);
      return timer;
    },
    clearTimeout: forget(own.clearTimeout),
    clearInterval: forget(own.clearInterval),
  });
  return { open, [Symbol.dispose]: () => void Object.assign(globalThis, own) };
}

test("after a load with faults and callers who leave, no socket and no timer is left over", async () => {
  using timers = watchTimers();
  const result = await soak(6_000);
  expect(result.calls).toBeGreaterThan(2_000);
  expect(result.failed / result.calls).toBeLessThan(0.05);
  expect(result.socketsLeft).toBeLessThanOrEqual(0);
  // The last ones hold places of requests that were given up, for a moment.
  for (let wait = 0; wait < 50 && timers.open.size > 0; wait++) await Bun.sleep(10);
  expect([...timers.open]).toEqual([]);
  expect(growthMib(result)).toBeLessThan(120);
}, 30_000);

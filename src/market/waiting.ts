import type { Clock } from "../lib/clock.ts";

/**
 * Waits for a promise, but no longer than `ms`.
 * @returns false when the time ran out
 * @throws what the promise rejects with in time
 */
export async function within(
  clock: Clock,
  ms: number,
  promise: Promise<unknown>,
): Promise<boolean> {
  const timer = new AbortController();
  const timeout = clock.sleep(ms, timer.signal).then(
    () => false,
    () => false,
  );
  try {
    return await Promise.race([promise.then(() => true), timeout]);
  } finally {
    timer.abort();
  }
}

/** Runs tasks one after the other, in the order they came. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve();

  run<Value>(task: () => Promise<Value>): Promise<Value> {
    const next = this.#last.then(task, task);
    this.#last = next.catch(() => {});
    return next;
  }
}

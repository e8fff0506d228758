import { test } from "bun:test";

/** How often the process looks whether it gets its time, ms. */
const TICK_MS = 5;
/** A pause of this length, or this share of the time in pauses, spoils a figure. */
const SPOILING_PAUSE_MS = 30;
const SPOILING_SHARE = 0.05;
const ATTEMPTS = 5;
/** Failures without such pauses that do not fail the test. */
const FORGIVEN = 1;

/** Watches for pauses in which the machine kept this process from running. */
function watchPauses() {
  const startMs = performance.now();
  let lastMs = startMs;
  let longestMs = 0;
  let sumMs = 0;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const pauseMs = Math.max(0, nowMs - lastMs - TICK_MS);
    longestMs = Math.max(longestMs, pauseMs);
    if (pauseMs > 1) sumMs += pauseMs;
    lastMs = nowMs;
  }, TICK_MS);
  return {
    stop: () => clearInterval(timer),
    /** Whether the process lacked so much time that figures mean little. */
    spoilt(): boolean {
      const share = sumMs / Math.max(1, performance.now() - startMs);
      return longestMs > SPOILING_PAUSE_MS || share > SPOILING_SHARE;
    },
  };
}

export interface TimedOptions {
  /** Sets up anew what the attempt before has used. */
  readonly renew?: () => Promise<void>;
  /** Time for one attempt, ms. */
  readonly timeoutMs: number;
}

/**
 * A test whose figures mean something only while the process gets its time: an attempt that fails
 * is made again if it did not get it. Pauses of other processes (the nodes') are not seen, so one
 * more failure is forgiven; two of them fail the test.
 */
export function timedTest(
  name: string,
  { renew, timeoutMs }: TimedOptions,
  body: () => Promise<void>,
): void {
  const repeated = async () => {
    let unspoilt = 0;
    for (let attempt = 1; ; attempt++) {
      const pauses = watchPauses();
      try {
        return await body();
      } catch (error) {
        if (!pauses.spoilt()) unspoilt++;
        if (unspoilt > FORGIVEN || attempt === ATTEMPTS) throw error;
        await renew?.();
      } finally {
        pauses.stop();
      }
    }
  };
  test(name, repeated, ATTEMPTS * timeoutMs);
}

/** The same for each row of a table; `%s` in the name stands for the row's first column. */
export function timedTestEach<T extends readonly [string, ...unknown[]]>(
  rows: readonly T[],
  name: string,
  options: TimedOptions,
  body: (...row: T) => Promise<void>,
): void {
  for (const row of rows) timedTest(name.replace("%s", row[0]), options, () => body(...row));
}

import type { Awaitable } from "../db/index.ts";
import type { Clock } from "../lib/clock.ts";

/** Where a key stands in its current window. `resetAt` is ms since the epoch. */
export interface WindowDecision {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: number;
}

/** One key's running window. */
export interface WindowState {
  readonly startedAt: number;
  count: number;
}

/**
 * Decides whether `n` more requests fit: a fixed window that starts with the first request after
 * the previous one ended. All `n` are taken or none.
 * @returns the decision, and the state that follows from it
 */
export function decideWindow(
  state: WindowState | undefined,
  request: { now: number; n: number; limit: number; windowMs: number },
): { decision: WindowDecision; state: WindowState } {
  const { now, n, limit, windowMs } = request;
  // A clock set back must not leave a window that lasts until it has caught up.
  const isRunning =
    state !== undefined && now >= state.startedAt && now < state.startedAt + windowMs;
  const current = isRunning ? state : { startedAt: now, count: 0 };
  const allowed = current.count + n <= limit;
  const count = allowed ? current.count + n : current.count;
  return {
    decision: {
      allowed,
      limit,
      remaining: Math.max(0, limit - count),
      resetAt: current.startedAt + windowMs,
    },
    state: { startedAt: current.startedAt, count },
  };
}

/** The rate windows of all keys. */
export interface RateWindow {
  /** Takes `n` requests from a key's window, all or none; 0 only looks. */
  take(keyId: string, n: number, limit: number): Awaitable<WindowDecision>;
}

/** Keys with a running window that are remembered; beyond it the window that ends first is lost. */
const MAX_WINDOWS = 100_000;
const MAX_SWEEPS_PER_TAKE = 4;

/** Rate windows in this process's memory: exact, because a decision is never interrupted. */
export function createMemoryWindow(windowMs: number, clock: Clock): RateWindow {
  // In order of start, because a new window is always inserted last; so the first ends first.
  const windows = new Map<string, WindowState>();

  const sweep = (now: number) => {
    let left = MAX_SWEEPS_PER_TAKE;
    for (const [keyId, { startedAt }] of windows) {
      const isOver = now >= startedAt + windowMs;
      if ((!isOver && windows.size <= MAX_WINDOWS) || left-- === 0) return;
      windows.delete(keyId);
    }
  };

  return {
    take(keyId, n, limit) {
      const now = clock.now();
      const before = windows.get(keyId);
      const { decision, state } = decideWindow(before, { now, n, limit, windowMs });
      if (n === 0) return decision;
      if (before && before.startedAt === state.startedAt) {
        before.count = state.count;
        return decision;
      }
      windows.delete(keyId);
      windows.set(keyId, state);
      sweep(now);
      return decision;
    },
  };
}

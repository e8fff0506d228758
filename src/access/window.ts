import type { Awaitable } from "../db/index.ts";
import type { Clock } from "../lib/clock.ts";
import { hashOf } from "../lib/hash.ts";

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

/** Windows are kept in this many parts, since a map that grows is copied, which takes its time. */
const PARTS = 64;
/**
 * Running windows that are remembered of a part: 1.3 million in all, at about 100 bytes. Beyond it
 * the one that ends first is lost.
 */
const MAX_WINDOWS_OF_PART = 20_000;
const MAX_SWEEPS_PER_TAKE = 4;

/** Rate windows in this process's memory: exact, because a decision is never interrupted. */
export function createMemoryWindow(windowMs: number, clock: Clock): RateWindow {
  // In order of start, because a new window is always inserted last; so the first ends first.
  const parts = Array.from({ length: PARTS }, () => new Map<string, WindowState>());

  return {
    take(keyId, n, limit) {
      const now = clock.now();
      const windows = parts[hashOf(keyId) % PARTS] ?? new Map<string, WindowState>();
      const before = windows.get(keyId);
      const { decision, state } = decideWindow(before, { now, n, limit, windowMs });
      if (n === 0) return decision;
      if (before && before.startedAt === state.startedAt) {
        before.count = state.count;
        return decision;
      }
      windows.delete(keyId);
      windows.set(keyId, state);
      sweep(windows, now - windowMs);
      return decision;
    },
  };
}

/** Forgets windows that are over, and the oldest beyond the bound; a few at a time. */
function sweep(windows: Map<string, WindowState>, overSince: number): void {
  let left = MAX_SWEEPS_PER_TAKE;
  for (const [keyId, { startedAt }] of windows) {
    const isOver = startedAt <= overSince;
    if ((!isOver && windows.size <= MAX_WINDOWS_OF_PART) || left-- === 0) return;
    windows.delete(keyId);
  }
}

import type { Peers, RedisLink } from "../db/index.ts";
import type { Clock } from "../lib/clock.ts";
import type { RateWindow, WindowDecision } from "./window.ts";

/** What the window tells of where it decides. */
export interface WindowObserver {
  /** Decisions are made over all replicas from now on, or by this one for its share. */
  onShared(isShared: boolean, reason: string): void;
  /** One decision was made for this replica's share. */
  onLocal(): void;
}

export interface RedisWindowDependencies {
  readonly link: Pick<RedisLink, "isUp" | "send">;
  readonly standing: Peers["standing"];
  readonly windowMs: number;
  readonly clock: Clock;
  readonly observer: WindowObserver;
}

/**
 * One step of a key's window, the rule of `decideWindow` in Redis' own time. A replica brings along
 * what it knows: where the window stood when it last saw it, and what it let in since on its own.
 * `born` tells a window from the same one before Redis lost it: of what was seen of an earlier one
 * the highest count is taken over, once (`base`), whichever replica comes first.
 * Returns whether the requests were let in, the count, the window's start and when it was born.
 */
const STEP = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local n, limit, length = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local seenStart, seenCount, seenBorn = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local carried = tonumber(ARGV[7])
local function runs(start) return start and now >= start and now < start + length end
local stored = redis.call('HMGET', KEYS[1], 'start', 'count', 'born', 'base')
local start, count = tonumber(stored[1]), tonumber(stored[2])
local born, base = tonumber(stored[3]), tonumber(stored[4])
if not runs(start) then
  start, count, born, base = now, 0, time[1] * 1000000 + time[2], 0
  if runs(seenStart) then start = seenStart end
end
if start == seenStart and born == seenBorn then
  count = math.max(count, seenCount)
elseif start == seenStart and seenCount > base then
  count, base = count + seenCount - base, seenCount
end
count = count + carried
local allowed = count + n <= limit
if allowed then count = count + n end
if n + carried > 0 then
  redis.call('HSET', KEYS[1], 'start', start, 'count', count, 'born', born, 'base', base)
  redis.call('PEXPIRE', KEYS[1], start + length - now)
end
return {allowed and 1 or 0, count, start, born}`;

const STEP_HASH = new Bun.CryptoHasher("sha1").update(STEP).digest("hex");
const KEY_PREFIX = "causeway:window:";

/** What this replica knows of a key's window. */
interface Known {
  /** ms since the epoch. */
  start: number;
  /** Count of all replicas when Redis last told it. */
  seen: number;
  /** Tells that window from the same one before Redis lost it. */
  born: number;
  /** Let in by this replica since, which Redis does not know of. */
  carried: number;
}

/** Time after Redis came back in which all replicas tell it what they let in, ms. */
const SETTLE_MS = 1_000;
const PUSH_AT_ONCE = 1_000;

/** Windows in Redis. */
export interface RedisWindow extends RateWindow {
  /** Redis came, for the first time or again. Resolves when decisions are made there. */
  resume(): Promise<void>;
}

const nothingKnown: Known = { start: 0, seen: 0, born: 0, carried: 0 };

/** Keys remembered; beyond it the window that started first is forgotten. */
const MAX_KNOWN = 100_000;
const MAX_SWEEPS_PER_TAKE = 4;

/**
 * Rate windows over all replicas: each decision is one atomic step in Redis. While Redis is away,
 * each replica grants its share of what was left when it last saw the window; before decisions are
 * made in Redis again, it is told what was granted.
 */
export function createRedisWindow(dependencies: RedisWindowDependencies): RedisWindow {
  const { link, standing, windowMs, clock, observer } = dependencies;
  // In order of start, because a window is inserted last when it starts.
  const known = new Map<string, Known>();
  let isShared: boolean | undefined;
  let isSettling = false;

  const tell = (shared: boolean, reason: string) => {
    if (isShared === shared) return;
    isShared = shared;
    observer.onShared(shared, reason);
  };
  const runs = ({ start }: Known, now: number) => now >= start && now < start + windowMs;

  /** The key's running window as far as it is known; a new one otherwise. */
  const recall = (keyId: string, now: number): Known => {
    const before = known.get(keyId);
    if (before && runs(before, now)) return before;
    known.delete(keyId);
    const fresh = { start: now, seen: 0, born: 0, carried: 0 };
    known.set(keyId, fresh);
    sweep(known, (entry) => !runs(entry, now));
    return fresh;
  };

  const takeLocally = (keyId: string, n: number, limit: number): WindowDecision => {
    observer.onLocal();
    const now = clock.now();
    const window = recall(keyId, now);
    const share = shareOf(Math.max(0, limit - window.seen), standing());
    const allowed = window.carried + n <= share;
    if (allowed) window.carried += n;
    const remaining = Math.max(0, share - window.carried);
    return { allowed, limit, remaining, resetAt: window.start + windowMs };
  };

  const step = async (args: readonly string[]): Promise<number[]> => {
    try {
      return (await link.send("EVALSHA", [STEP_HASH, ...args])) as number[];
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
      return (await link.send("EVAL", [STEP, ...args])) as number[];
    }
  };

  /** Tells Redis what was let in without it. */
  const push = async () => {
    const now = clock.now();
    const owed = [...known].filter(([, window]) => window.carried > 0 && runs(window, now));
    for (let i = 0; i < owed.length; i += PUSH_AT_ONCE) {
      const some = owed.slice(i, i + PUSH_AT_ONCE);
      await Promise.all(some.map(([keyId]) => takeShared(keyId, 0, 0)));
    }
  };

  const takeShared = async (keyId: string, n: number, limit: number): Promise<WindowDecision> => {
    const window = known.get(keyId);
    const isKnown = window !== undefined && runs(window, clock.now());
    const { start, seen, born, carried } = isKnown ? window : nothingKnown;
    // Requests sent meanwhile must not bring the same along.
    if (isKnown) window.carried = 0;
    const args = ["1", KEY_PREFIX + keyId, n, limit, windowMs, start, seen, born, carried].map(
      String,
    );
    try {
      const [isAllowed, count = 0, startedAt = 0, bornAt = 0] = await step(args);
      if (!isSettling) tell(true, "Redis answers");
      note(keyId, { start: startedAt, seen: count, born: bornAt });
      const remaining = Math.max(0, limit - count);
      return { allowed: isAllowed === 1, limit, remaining, resetAt: startedAt + windowMs };
    } catch (error) {
      if (isKnown) window.carried += carried;
      tell(false, error instanceof Error ? error.message : String(error));
      return takeLocally(keyId, n, limit);
    }
  };

  const note = (keyId: string, told: Omit<Known, "carried">) => {
    const window = known.get(keyId);
    if (window?.start === told.start) {
      // Answers may arrive out of order.
      window.seen = window.born === told.born ? Math.max(window.seen, told.seen) : told.seen;
      window.born = told.born;
      return;
    }
    if (window && window.start > told.start && window.seen > 0) return;
    known.delete(keyId);
    known.set(keyId, { ...told, carried: window?.carried ?? 0 });
    sweep(known, (entry) => !runs(entry, told.start));
  };

  return {
    take(keyId, n, limit) {
      if (link.isUp && !isSettling) return takeShared(keyId, n, limit);
      tell(false, "Redis is away");
      return takeLocally(keyId, n, limit);
    },
    async resume() {
      if (isShared !== false || isSettling) return;
      isSettling = true;
      await push();
      await clock.sleep(SETTLE_MS);
      await push();
      isSettling = false;
    },
  };
}

/** A replica's share: all shares together are exactly the whole. */
export function shareOf(whole: number, { rank, count }: ReturnType<Peers["standing"]>): number {
  return Math.floor(whole / count) + (rank < whole % count ? 1 : 0);
}

/** Forgets windows that are over, and the oldest beyond the bound; a few at a time. */
function sweep(known: Map<string, Known>, isOver: (entry: Known) => boolean): void {
  let left = MAX_SWEEPS_PER_TAKE;
  for (const [keyId, entry] of known) {
    if ((!isOver(entry) && known.size <= MAX_KNOWN) || left-- === 0) return;
    known.delete(keyId);
  }
}

import type { ActivityStore, KeyErrorEntry } from "../db/index.ts";
import type { Clock } from "../lib/clock.ts";

/** How long what was noted may wait to be stored. */
const FLUSH_AFTER_MS = 1_000;
/** Errors kept of a key. */
export const MAX_ERRORS_PER_KEY = 100;
/** Errors that wait to be stored, of all keys together; more are not kept. */
const MAX_WAITING_ERRORS = 2_000;
const MAX_TEXT_LENGTH = 300;

/** Notes what keys do, for their holders to see; costs a request next to nothing. */
export interface ActivityLog {
  /** A key was accepted. */
  used(keyId: string): void;
  /** A key was answered with an error. */
  failed(error: Omit<KeyErrorEntry, "at">): void;
  /** Stores what waits. */
  flush(): Promise<void>;
}

/**
 * Gathers last uses and errors in memory and stores them at most once per second, in one
 * transaction. What a killed process had not stored yet is lost; nothing is charged by it.
 * @param onLost - told when what was gathered cannot be stored
 */
export function createActivityLog(
  store: ActivityStore,
  clock: Clock,
  onLost: (error: unknown) => void = () => {},
): ActivityLog {
  let used = new Map<string, number>();
  let errors: KeyErrorEntry[] = [];
  let waiting: Map<string, number> = new Map();
  let timer: Timer | undefined;

  const flush = async () => {
    clearTimeout(timer);
    timer = undefined;
    if (used.size === 0 && errors.length === 0) return;
    const [savedUses, savedErrors] = [used, errors];
    used = new Map();
    errors = [];
    waiting = new Map();
    try {
      await store.save(savedUses, savedErrors, MAX_ERRORS_PER_KEY);
    } catch (error) {
      onLost(error);
    }
  };
  const schedule = () => {
    if (timer) return;
    timer = setTimeout(() => void flush(), FLUSH_AFTER_MS);
    timer.unref();
  };

  return {
    used(keyId) {
      // Within the second until all of it is stored, the first use speaks for those after it.
      if (used.has(keyId) || used.size >= store.maxWaitingUses) return;
      used.set(keyId, clock.now());
      schedule();
    },
    failed(error) {
      const ofKey = waiting.get(error.keyId) ?? 0;
      // The first errors of a storm say what the later ones do.
      if (errors.length >= MAX_WAITING_ERRORS || ofKey >= MAX_ERRORS_PER_KEY) return;
      waiting.set(error.keyId, ofKey + 1);
      errors.push({
        ...error,
        path: error.path.slice(0, MAX_TEXT_LENGTH),
        message: error.message.slice(0, MAX_TEXT_LENGTH),
        at: clock.now(),
      });
      schedule();
    },
    flush,
  };
}

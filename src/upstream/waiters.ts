import type { CancelSignal } from "../lib/cancel.ts";

/** A place in the line of those who wait. */
export interface WaitingPlace {
  /**
   * Waits until woken, or for a time, or until the signal aborts.
   * @param dueMs - when what is waited for is expected; only the first in the line gets up for it
   * @param maxMs - longest wait, after which each looks for itself
   */
  nap(dueMs: number, maxMs: number, signal: CancelSignal | undefined): Promise<void>;
  /** Leaves the line; the next one is then first. */
  leave(): void;
}

interface Entry {
  wake: (() => void) | undefined;
}

/**
 * Callers waiting for an upstream, first come first served. All wait for much the same, so only the
 * first one watches the time: a thousand that got up for one free place would cost more than it.
 */
export class Waiters {
  readonly #line = new Set<Entry>();

  constructor(private readonly maxWaiters: number) {}

  /** @returns undefined when too many wait already */
  join(): WaitingPlace | undefined {
    if (this.#line.size >= this.maxWaiters) return undefined;
    const entry: Entry = { wake: undefined };
    this.#line.add(entry);
    return {
      nap: (dueMs, maxMs, signal) => {
        const isFirst = this.#first() === entry;
        return nap(entry, Math.max(0, isFirst ? Math.min(dueMs, maxMs) : maxMs), signal);
      },
      leave: () => {
        const wasFirst = this.#first() === entry;
        this.#line.delete(entry);
        if (wasFirst) this.#first()?.wake?.();
      },
    };
  }

  wakeOne(): void {
    for (const { wake } of this.#line) if (wake) return wake();
  }

  wakeAll(): void {
    for (const { wake } of this.#line) wake?.();
  }

  #first(): Entry | undefined {
    for (const entry of this.#line) return entry;
    return undefined;
  }
}

function nap(entry: Entry, ms: number, signal: CancelSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      entry.wake = undefined;
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal?.addEventListener("abort", wake, { once: true });
    entry.wake = wake;
  });
}

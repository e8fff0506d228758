/** Callers waiting for something to change, first come first served. */
export class Waiters {
  readonly #queue = new Set<() => void>();

  constructor(private readonly maxWaiters: number) {}

  /**
   * Waits until woken, or `maxMs` have passed, or the signal aborts.
   * @returns false when too many wait already
   */
  async wait(maxMs: number, signal: AbortSignal | undefined): Promise<boolean> {
    if (this.#queue.size >= this.maxWaiters) return false;
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", wake);
        this.#queue.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.max(0, maxMs));
      signal?.addEventListener("abort", wake, { once: true });
      this.#queue.add(wake);
    });
    return true;
  }

  wakeOne(): void {
    for (const wake of this.#queue) return wake();
  }

  wakeAll(): void {
    for (const wake of this.#queue) wake();
  }
}

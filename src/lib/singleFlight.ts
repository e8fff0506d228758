/**
 * Shares one run among all callers that ask for the same key while it is under way.
 * The map holds only runs in flight, so its bound is the caller's own concurrency.
 */
export class SingleFlight<Value> {
  readonly #running = new Map<string, Promise<Value>>();

  /** Runs `task`, or joins the run of this key that is under way. */
  run(key: string, task: () => Promise<Value>): Promise<Value> {
    const running = this.#running.get(key);
    if (running) return running;
    const started = task().finally(() => this.#running.delete(key));
    this.#running.set(key, started);
    return started;
  }
}

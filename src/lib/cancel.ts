/** What a task looks at to learn that it is no longer wanted. An `AbortSignal` is one. */
export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void, options?: { once: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/**
 * An `AbortController` and its signal in one plain object, for the paths every request takes: the
 * runtime's own costs a microsecond once something listens. Listeners are called once.
 */
export class Cancel implements CancelSignal {
  aborted = false;
  reason: unknown;
  /** Most tasks have one listener, which needs no list. */
  #first: (() => void) | undefined;
  #others: (() => void)[] | undefined;

  abort(reason: unknown = new DOMException("The operation was aborted.", "AbortError")): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const first = this.#first;
    const others = this.#others;
    this.#first = undefined;
    this.#others = undefined;
    first?.();
    for (const listener of others ?? []) listener();
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  addEventListener(_type: "abort", listener: () => void): void {
    if (this.aborted) return;
    if (!this.#first) this.#first = listener;
    else (this.#others ??= []).push(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    if (this.#first === listener) this.#first = undefined;
    else this.#others = this.#others?.filter((other) => other !== listener);
  }
}

/** A cancellation of its own that also ends with another signal. */
export function cancelWith(signal: CancelSignal | undefined): Cancel {
  const cancel = new Cancel();
  if (signal?.aborted) cancel.abort(signal.reason);
  else signal?.addEventListener("abort", () => cancel.abort(signal.reason), { once: true });
  return cancel;
}

import type { CancelSignal } from "../lib/cancel.ts";

/** Answers below this size are not counted: their number is bounded by the requests in flight. */
export const MIN_COUNTED_BYTES = 64 * 1024;

/** Bytes set aside; `release` gives them back, once. */
export interface Lease {
  readonly bytes: number;
  /** Sets aside more at once. @returns false when they are not there */
  grow(bytes: number): boolean;
  release(): void;
}

interface Waiting {
  readonly bytes: number;
  readonly grant: (lease: Lease | undefined) => void;
}

/**
 * The memory that answers may take, from the first byte read off a node until the last byte is
 * handed to the caller. Who finds it taken waits, first come first served, while the node's own
 * connection holds the answer back.
 */
export class AnswerMemory {
  #used = 0;
  readonly #waiting = new Set<Waiting>();

  /** @param maxBytes - of all counted answers together */
  constructor(readonly maxBytes: number) {}

  get usedBytes(): number {
    return this.#used;
  }

  /**
   * Sets bytes aside, as soon as they are there.
   * @returns undefined when there will never be as many, or the signal aborted first
   */
  async take(bytes: number, signal: CancelSignal): Promise<Lease | undefined> {
    if (bytes > this.maxBytes) return undefined;
    if (this.#waiting.size === 0 && this.#used + bytes <= this.maxBytes) return this.hold(bytes);
    const { promise, resolve: grant } = Promise.withResolvers<Lease | undefined>();
    const entry: Waiting = { bytes, grant };
    const onAbort = () => {
      this.#waiting.delete(entry);
      grant(undefined);
    };
    this.#waiting.add(entry);
    signal.addEventListener("abort", onAbort, { once: true });
    const lease = await promise;
    signal.removeEventListener("abort", onAbort);
    return lease;
  }

  /** Counts bytes that are in memory already, whether there is room or not. */
  hold(bytes: number): Lease {
    this.#used += bytes;
    let held = bytes;
    return {
      get bytes() {
        return held;
      },
      grow: (more) => {
        if (this.#used + more > this.maxBytes) return false;
        this.#used += more;
        held += more;
        return true;
      },
      release: () => {
        this.#used -= held;
        held = 0;
        this.#grant();
      },
    };
  }

  #grant(): void {
    for (const entry of this.#waiting) {
      if (this.#used + entry.bytes > this.maxBytes) return;
      this.#waiting.delete(entry);
      entry.grant(this.hold(entry.bytes));
    }
  }
}

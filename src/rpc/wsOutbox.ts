import type { Clock } from "../lib/clock.ts";

/** The sending side of a connection. */
export interface Wire {
  /** Queues a text message; false when the connection refused it. */
  send(text: string): boolean;
  /** Bytes queued and not yet taken by the network. */
  bufferedBytes(): number;
}

export interface OutboxLimits {
  /** Bytes that may wait in the connection before more is held back. */
  readonly highWaterBytes: number;
  /** A connection that takes nothing for this long is dropped. */
  readonly stallMs: number;
}

/**
 * Holds messages back while a connection is full, so that what waits in it stays bounded: by the
 * high-water mark and one message. Room is reserved before a message is charged, so that many
 * messages being charged at once do not all find the connection empty.
 */
export class Outbox {
  readonly #waiting = new Set<() => void>();
  #reservedBytes = 0;
  #stall: AbortController | undefined;
  #isClosed = false;

  /** @param onStall - called when the connection takes nothing (for too long) */
  constructor(
    private readonly wire: Wire,
    private readonly limits: OutboxLimits,
    private readonly clock: Clock,
    private readonly onStall: () => void,
  ) {}

  /** Whether there is room for a message now. */
  get hasRoom(): boolean {
    const pendingBytes = this.wire.bufferedBytes() + this.#reservedBytes;
    return !this.#isClosed && pendingBytes <= this.limits.highWaterBytes;
  }

  /**
   * Waits for room and reserves it, first come first served.
   * @returns gives the room back, to be called once the message was sent or given up; undefined
   *   when the connection closed
   */
  async reserve(bytes: number): Promise<(() => void) | undefined> {
    while (!this.#isClosed && !this.hasRoom) {
      if (!this.#stall) this.#watch();
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
    if (this.#isClosed) return undefined;
    this.#unwatch();
    this.#reservedBytes += bytes;
    return () => {
      this.#reservedBytes -= bytes;
      if (this.hasRoom) this.#wake();
    };
  }

  send(text: string): void {
    if (!this.#isClosed && !this.wire.send(text)) this.onStall();
  }

  /** The network took something. */
  drained(): void {
    this.#unwatch();
    this.#wake();
  }

  close(): void {
    this.#isClosed = true;
    this.#stall?.abort();
    this.#wake();
  }

  #watch(): void {
    const stall = new AbortController();
    this.#stall = stall;
    this.clock.sleep(this.limits.stallMs, stall.signal).then(this.onStall, () => {});
  }

  /** Something moved; those for whom there still is no room start the watch again. */
  #unwatch(): void {
    this.#stall?.abort();
    this.#stall = undefined;
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }
}

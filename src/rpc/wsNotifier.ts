import type { Session } from "../access/index.ts";
import type { Outbox } from "./wsOutbox.ts";

/** One notification on its way. */
export interface Notification {
  readonly text: string;
  /** False once the subscription was ended; then it is neither sent nor charged. */
  readonly isWanted: () => boolean;
}

export interface NotifierOptions {
  readonly session: Session;
  readonly chainId: number;
  readonly outbox: Outbox;
  /** Most characters that may wait here. */
  readonly maxQueuedBytes: number;
  /** Called when more than that waits; nothing is left out silently. */
  readonly onOverflow: () => void;
  /** Called with what kept notifications from being charged. */
  readonly onFailure: (error: unknown) => void;
}

/** Most notifications charged by one entry of the ledger. */
const MAX_CHARGED_AT_ONCE = 256;
const MAX_BATCH_BYTES = 65_536;

/** Sends a connection's notifications in order, each charged before it leaves. */
export class Notifier {
  #queue: Notification[] = [];
  #queuedBytes = 0;
  #isRunning = false;
  #isClosed = false;

  constructor(private readonly options: NotifierOptions) {}

  push(notification: Notification): void {
    if (this.#isClosed) return;
    this.#queue.push(notification);
    this.#queuedBytes += notification.text.length;
    if (this.#queuedBytes > this.options.maxQueuedBytes) return this.options.onOverflow();
    if (!this.#isRunning) void this.#run();
  }

  close(): void {
    this.#isClosed = true;
    this.#queue = [];
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      // What comes in the same turn is charged together.
      await Promise.resolve();
      while (this.#queue.length > 0) {
        const done = await this.options.outbox.reserve(MAX_BATCH_BYTES);
        if (!done) return;
        await this.#send(this.#takeBatch()).finally(done);
      }
    } catch (error) {
      this.options.onFailure(error);
    } finally {
      this.#isRunning = false;
    }
  }

  #takeBatch(): Notification[] {
    let bytes = 0;
    let count = 0;
    for (const { text } of this.#queue) {
      if (count > 0 && (count === MAX_CHARGED_AT_ONCE || bytes + text.length > MAX_BATCH_BYTES)) {
        break;
      }
      bytes += text.length;
      count++;
    }
    this.#queuedBytes -= bytes;
    return this.#queue.splice(0, count);
  }

  async #send(batch: readonly Notification[]): Promise<void> {
    const { session, chainId, outbox } = this.options;
    const wanted = batch.filter(({ isWanted }) => isWanted());
    if (wanted.length === 0) return;
    const hold = await session.admitPushed(wanted.length);
    await hold.settle(200, chainId, this.#isClosed);
    for (const { text } of wanted) outbox.send(text);
  }
}

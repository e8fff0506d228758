import {
  ConnectionError,
  type ConnectionFault,
  type HttpAnswer,
  type SendOptions,
} from "../connection.ts";
import type { Lease } from "../memory.ts";
import { AnswerReader } from "./answerReader.ts";
import { isPacked, unpack } from "./decode.ts";

/** Who carries an exchange at the moment, and is told when it is given up. */
export interface Carrier {
  drop(exchange: Exchange): void;
}

/** One request and its answer, whichever connection carries them. */
export class Exchange {
  readonly answer: Promise<HttpAnswer>;
  /** Reads the answer; a request that is sent once more begins with a fresh one. */
  reader: AnswerReader;
  /** Whether it was sent once more, on a connection of its own. */
  isRepeated = false;
  /** When it was last written, monotonic ms. */
  sentAtMs = 0;
  carrier: Carrier | undefined;
  isSettled = false;
  #resolve: (answer: HttpAnswer | PromiseLike<HttpAnswer>) => void;
  #reject: (error: ConnectionError) => void;

  /**
   * @param request - head and body, as text
   * @param requestBytes - its length in UTF-8
   */
  constructor(
    readonly request: string,
    readonly requestBytes: number,
    readonly options: SendOptions,
  ) {
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
    this.answer = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.reader = this.#newReader();
    options.signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Begins anew on a fresh connection. */
  repeat(): void {
    this.isRepeated = true;
    this.reader.lease?.release();
    this.reader = this.#newReader();
  }

  /** The answer is complete. */
  complete(): void {
    const { head, body, lease } = this.reader;
    this.#settle();
    if (head && !isPacked(head.encoding)) {
      if (lease) releaseLater(lease);
      this.#resolve({ status: head.status, retryAfter: head.retryAfter, bytes: body });
    } else this.#resolve(this.#unpacked());
  }

  fail(fault: ConnectionFault): void {
    if (this.isSettled) return;
    this.#settle();
    this.reader.lease?.release();
    this.#reject(new ConnectionError(fault));
  }

  async #unpacked(): Promise<HttpAnswer> {
    const { head, body, lease = this.options.memory.hold(0) } = this.reader;
    try {
      if (!head) throw new ConnectionError("malformed");
      const bytes = await unpack(body, head.encoding, this.options.maxBytes, lease);
      return { status: head.status, retryAfter: head.retryAfter, bytes };
    } finally {
      releaseLater(lease);
    }
  }

  #newReader(): AnswerReader {
    const { maxBytes, memory } = this.options;
    return new AnswerReader(maxBytes, memory);
  }

  #settle(): void {
    this.isSettled = true;
    this.options.signal.removeEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = (): void => {
    const { carrier } = this;
    this.fail("aborted");
    carrier?.drop(this);
  };
}

/** Until the turn ends, whoever gets the bytes has time to count them as its own. */
function releaseLater(lease: Lease): void {
  if (lease.bytes > 0) setImmediate(() => lease.release());
}

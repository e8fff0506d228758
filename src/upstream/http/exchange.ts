import { Cancel } from "../../lib/cancel.ts";
import { pieceOf } from "../../lib/piece.ts";
import {
  type AnswerLimits,
  type AnswerTarget,
  ConnectionError,
  type ConnectionFault,
  type Sending,
} from "../connection.ts";
import type { Lease } from "../memory.ts";
import type { RequestText } from "../requestText.ts";
import { AnswerReader } from "./answerReader.ts";
import { isPacked, unpack } from "./decode.ts";
import type { AnswerHead, HeadReader } from "./head.ts";

const noBytes = new Uint8Array(0);

/** Who carries an exchange at the moment, and is told when it is given up. */
export interface Carrier {
  drop(exchange: Exchange): void;
}

/** One request and its answer, whichever connection carries them. */
export class Exchange implements Sending {
  /** Reads an answer that comes in pieces; a request that is sent once more begins anew. */
  #reader: AnswerReader | undefined;
  /** Whether it was sent once more, on a connection of its own. */
  isRepeated = false;
  /** When it was last written, monotonic ms. */
  sentAtMs = 0;
  carrier: Carrier | undefined;
  isSettled = false;
  #isDropped = false;
  /** The body of an answer that came all at once. */
  #whole: Uint8Array = noBytes;
  #leaving: Cancel | undefined;

  /**
   * @param body - what is asked
   * @param heads - reads the heads of the server's answers
   */
  constructor(
    readonly body: RequestText,
    readonly limits: AnswerLimits,
    private readonly heads: HeadReader,
    private readonly target: AnswerTarget,
  ) {}

  get reader(): AnswerReader {
    this.#reader ??= new AnswerReader(this.limits, this.heads);
    return this.#reader;
  }

  /** Whether anything came of the answer. */
  get hasBegun(): boolean {
    return this.#reader?.hasBegun ?? false;
  }

  /** Aborts when the exchange is given up; made for what waits, which few do. */
  get leaving(): Cancel {
    this.#leaving ??= new Cancel();
    return this.#leaving;
  }

  /** Begins anew on a fresh connection. */
  repeat(): void {
    this.isRepeated = true;
    this.#reader?.lease?.release();
    this.#reader = undefined;
  }

  /**
   * Takes an answer that came all at once, behind a head that is known.
   * @returns its head; undefined when it is no such answer
   */
  takeWhole(bytes: Buffer): AnswerHead | undefined {
    const { heads } = this;
    if (this.#reader || !heads.isWhole(bytes)) return undefined;
    if (bytes.length - heads.bodyAt > this.limits.maxBytes) return undefined;
    this.#whole = pieceOf(bytes, heads.bodyAt);
    return heads.head;
  }

  /** Passes on what `takeWhole` took. */
  completeWhole({ status, retryAfter }: AnswerHead): void {
    this.isSettled = true;
    this.target.answered({ status, retryAfter, bytes: this.#whole });
  }

  /** The answer is complete. */
  complete(): void {
    const { head, body, lease } = this.reader;
    this.isSettled = true;
    if (!head || isPacked(head.encoding)) return void this.#unpack();
    if (lease) releaseLater(lease);
    this.target.answered({ status: head.status, retryAfter: head.retryAfter, bytes: body });
  }

  fail(fault: ConnectionFault): void {
    if (this.isSettled) return;
    this.#end();
    this.target.faulted(fault);
  }

  drop(): void {
    this.#isDropped = true;
    if (this.isSettled) return;
    const { carrier } = this;
    this.#end();
    this.#leaving?.abort();
    carrier?.drop(this);
  }

  #end(): void {
    this.isSettled = true;
    this.#reader?.lease?.release();
  }

  async #unpack(): Promise<void> {
    const { head, body, lease = this.limits.memory.hold(0) } = this.reader;
    try {
      if (!head) throw new ConnectionError("malformed");
      const bytes = await unpack(body, head.encoding, this.limits.maxBytes, lease);
      const { status, retryAfter } = head;
      if (!this.#isDropped) this.target.answered({ status, retryAfter, bytes });
    } catch (error) {
      const fault = error instanceof ConnectionError ? error.fault : "malformed";
      if (!this.#isDropped) this.target.faulted(fault);
    } finally {
      releaseLater(lease);
    }
  }
}

/** Until the turn ends, whoever gets the bytes has time to count them as its own. */
function releaseLater(lease: Lease): void {
  if (lease.bytes > 0) setImmediate(() => lease.release());
}

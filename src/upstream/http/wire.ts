import type { Socket } from "bun";
import type { Progress } from "./answerReader.ts";
import type { Carrier, Exchange } from "./exchange.ts";
import type { AnswerHead } from "./head.ts";
import type { RequestWriter } from "./requestWriter.ts";

/** Told what becomes of a connection. */
export interface WireOwner {
  /** Its exchange ended and it can carry another. */
  freed(wire: Wire): void;
  /** It ended without an answer's first byte to a request that it was kept for. */
  diedIdle(exchange: Exchange): void;
  /** A request it was kept for got no answer in time: the other end may be gone without a word. */
  wasSilent(exchange: Exchange): void;
  /** It is closed. */
  closed(wire: Wire): void;
}

/** One connection to a server, carrying one exchange at a time. */
export class Wire implements Carrier {
  /** When it last became free, monotonic ms. */
  freeSinceMs = 0;
  /** Time it may stay unused, as far as the server said, ms. */
  keepAliveMs = Number.POSITIVE_INFINITY;
  #exchange: Exchange | undefined;
  /** Rest of a request the socket has not taken yet. */
  #unsent: Uint8Array | undefined;
  #isClosed = false;
  /** Whether the server is held back until there is room for its answer. */
  #isPaused = false;
  /** Answers it has carried. */
  #carried = 0;

  constructor(
    private readonly socket: Socket<unknown>,
    private readonly writer: RequestWriter,
    private readonly owner: WireOwner,
  ) {}

  get isOpen(): boolean {
    return !this.#isClosed;
  }

  /** Sends a request; the wire must be open and free. @param nowMs - monotonic time */
  carry(exchange: Exchange, nowMs: number): void {
    this.#exchange = exchange;
    exchange.carrier = this;
    exchange.sentAtMs = nowMs;
    const unsent = this.writer.write(this.socket, exchange.body);
    if (unsent === "closed") this.#end();
    else this.#unsent = unsent;
  }

  /** Bytes came. */
  receive(bytes: Buffer): void {
    const exchange = this.#exchange;
    // Nobody asked: an answer to nothing, or the words with which a server hangs up.
    if (!exchange) return this.close();
    const head = this.#unsent ? undefined : exchange.takeWhole(bytes);
    if (!head) return this.#advance(exchange, exchange.reader.read(bytes));
    this.#free(head);
    exchange.completeWhole(head);
  }

  /** The socket takes more. */
  drained(): void {
    if (!this.#unsent) return;
    const written = this.socket.write(this.#unsent);
    if (written < 0) return this.#end();
    this.#unsent = written < this.#unsent.length ? this.#unsent.subarray(written) : undefined;
  }

  /** The other end closed, or the connection broke. */
  ended(): void {
    this.#end();
  }

  drop(exchange: Exchange): void {
    if (this.#exchange !== exchange) return;
    if (this.#carried > 0 && !exchange.hasBegun) this.owner.wasSilent(exchange);
    this.close();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#exchange = undefined;
    this.#unsent = undefined;
    this.socket.terminate();
    this.owner.closed(this);
  }

  #advance(exchange: Exchange, progress: Progress): void {
    if (progress === "more") return;
    if (progress === "done") return this.#finish(exchange);
    if (progress === "room") return void this.#makeRoom(exchange);
    exchange.fail(progress);
    this.close();
  }

  #finish(exchange: Exchange): void {
    const { head, hasSurplus } = exchange.reader;
    const isKept = head?.keepAlive === true && !hasSurplus && !this.#unsent && !this.#isClosed;
    if (isKept) this.#free(head);
    else {
      this.#exchange = undefined;
      this.close();
    }
    exchange.complete();
  }

  /** An answer came to its end: the connection can carry another. */
  #free({ keepAliveMs }: AnswerHead): void {
    this.#exchange = undefined;
    this.#carried++;
    if (keepAliveMs !== undefined) this.keepAliveMs = keepAliveMs;
    this.owner.freed(this);
  }

  /** Holds the server back until there is memory for its answer. */
  async #makeRoom(exchange: Exchange): Promise<void> {
    if (this.#isPaused) return;
    const { reader, limits } = exchange;
    this.#isPaused = true;
    this.socket.pause();
    const lease = await limits.memory.take(reader.room, exchange.leaving);
    this.#isPaused = false;
    if (this.#exchange !== exchange) return lease?.release();
    if (!lease) {
      exchange.fail("no-memory");
      return this.close();
    }
    this.socket.resume();
    this.#advance(exchange, reader.grant(lease));
  }

  #end(): void {
    const exchange = this.#exchange;
    if (!exchange || this.#isClosed) return this.close();
    if (exchange.reader.end()) return this.#finish(exchange);
    this.close();
    if (exchange.hasBegun) exchange.fail("truncated");
    else if (this.#carried > 0 && !exchange.isRepeated) this.owner.diedIdle(exchange);
    else exchange.fail("unreachable");
  }
}

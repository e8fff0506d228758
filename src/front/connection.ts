import type { Socket } from "bun";
import type { PlainAnswer } from "../lib/http.ts";
import { pieceOf } from "../lib/piece.ts";
import { RingItem } from "../lib/ring.ts";
import { ByteQueue } from "./byteQueue.ts";
import { Call, type CallContext, type CallOwner, type Pending } from "./call.ts";
import { type Fetch, FetchedCall } from "./fetched.ts";
import { HeadMemo } from "./headMemo.ts";
import { type BodyMemory, Outbox } from "./outbox.ts";
import type { Tunnel } from "./tunnel.ts";

/** What all connections share. */
export interface ConnectionHost extends CallContext {
  readonly memory: BodyMemory;
  readonly maxBodyBytes: number;
  /** Seconds the front has been up. */
  readonly upS: number;
  /** As by `dateField`, of this second. */
  readonly dateField: string;
  /** Whether no more requests are taken. */
  readonly isStopping: boolean;
  /** The framework, without a connection. */
  readonly fetch: Fetch;
  /** Carries a connection on to the other server. */
  openTunnel(client: Socket<unknown>): Tunnel;
}

/**
 * What a connection waits for:
 * - head: a request, or the rest of its head;
 * - gate: the gate's word on a request;
 * - body: the rest of a body the gate let in;
 * - answer: the route;
 * - sending: the client, to take the answer.
 */
type Stage = "head" | "gate" | "body" | "answer" | "sending";

/** Bytes that may wait while a request is answered; the client is held back beyond. */
const MAX_WAITING_BYTES = 65_536;
/** A head that comes in more pieces than this is for the other server, with all its patience. */
const MAX_HEAD_PIECES = 64;
/** Time for a head from its first byte on, s. */
const HEAD_S = 10;
/** Time in which something of a body must come, s. */
const BODY_S = 10;
/** Time in which something of an answer must be taken, s. */
const SENDING_S = 30;
/** Time for a client to close a connection that was closed here, s. */
const HANG_UP_S = 5;
/** Time between two requests, s. */
const IDLE_S = 65;

const noBytes = Buffer.alloc(0);

/** A client's connection: reads requests one after another, and sends their answers in order. */
export class Connection extends RingItem implements CallOwner {
  #stage: Stage = "head";
  /** Second in which the stage last moved on. */
  #movedS: number;
  /** Bytes that came and belong to no request yet, or to one the gate has not let in. */
  readonly #waiting = new ByteQueue();
  readonly #heads: HeadMemo;
  readonly #outbox: Outbox;
  #call: Pending | undefined;
  /** Bytes of the request's body that have not been read yet. */
  #unread = 0;
  /** What is gathered of the body, or the bytes it came in with its head. */
  #body: Buffer = noBytes;
  /** Where the body begins in `#body`. */
  #bodyAt = 0;
  #tunnel: Tunnel | undefined;
  #isPaused = false;
  #isAdvancing = false;
  #isClosed = false;
  #closesAfter = false;

  constructor(
    private readonly socket: Socket<unknown>,
    private readonly host: ConnectionHost,
  ) {
    super();
    this.#heads = new HeadMemo(host.route.prefix);
    this.#outbox = new Outbox(socket, host.memory);
    this.#movedS = host.upS;
  }

  readonly peer = (): string => this.socket.remoteAddress;

  /** Whether it was handed on to the other server. */
  get isTunnelled(): boolean {
    return this.#tunnel !== undefined;
  }

  /** Whether a request is being read or answered. */
  get isBusy(): boolean {
    return this.#stage !== "head" || this.#waiting.length > 0;
  }

  /** The client sent something. */
  receive(bytes: Buffer): void {
    if (this.#tunnel) return this.#tunnel.receive(bytes);
    if (this.#isClosed) return;
    if (this.#stage === "body") return this.#fill(bytes);
    if (this.#waiting.length === 0) this.#movedS = this.host.upS;
    this.#waiting.push(bytes);
    if (this.#stage === "head") this.#advance();
    else if (this.#waiting.length > MAX_WAITING_BYTES) this.#pause();
  }

  /** The client takes more. */
  drained(): void {
    if (this.#tunnel) return this.#tunnel.drain();
    if (this.#stage !== "sending") return;
    if (this.#outbox.drain()) this.#movedS = this.host.upS;
    if (this.#outbox.isEmpty) this.#finish();
  }

  /** The client sends nothing more: it has left, as far as HTTP clients go. */
  ended(): void {
    if (this.#tunnel) return this.#tunnel.end();
    this.socket.end();
    this.closed();
  }

  /** The connection is gone. */
  closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#tunnel?.close();
    this.#outbox.drop();
    const call = this.#call;
    this.#call = undefined;
    call?.abort();
  }

  /** Called once per second: ends what does not move on. */
  sweep(): void {
    if (this.#tunnel) return this.#tunnel.sweep();
    if (this.host.upS - this.#movedS > this.#patienceS()) this.socket.terminate();
  }

  /** The service stops: nothing more is read. */
  stop(): void {
    if (!this.#tunnel && !this.isBusy) this.#hangUp();
  }

  admitted(call: Pending): void {
    if (call !== this.#call) return;
    if (this.#heads.length > this.host.maxBodyBytes) return call.refuseBody();
    if (this.#unread === 0) return this.#handle(call);
    this.#body = Buffer.allocUnsafeSlow(this.#unread);
    this.#stage = "body";
    this.#resume();
    this.#fill(this.#waiting.take());
  }

  answered(call: Pending, answer: PlainAnswer): void {
    if (call !== this.#call) return;
    const { access, isStopping } = this.host;
    const isOwnWish = call.head.closes || isStopping;
    if (isOwnWish && !access.isDraining) answer.fields += "connection: close\r\n";
    this.#closesAfter = isOwnWish || access.isDraining;
    this.#stage = "sending";
    this.#movedS = this.host.upS;
    this.#outbox.send(answer, this.host.dateField);
    if (this.#outbox.isEmpty) this.#finish();
  }

  broken(call: Pending): void {
    if (call === this.#call) this.socket.terminate();
  }

  #patienceS(): number {
    if (this.#isClosed) return HANG_UP_S;
    switch (this.#stage) {
      case "head":
        return this.#waiting.length > 0 ? HEAD_S : IDLE_S;
      case "body":
        return BODY_S;
      case "sending":
        return SENDING_S;
      default:
        // Calls have deadlines of their own.
        return Number.POSITIVE_INFINITY;
    }
  }

  /** Reads requests as long as there are any that can be read. */
  #advance(): void {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    while (this.#stage === "head" && this.#waiting.length > 0 && !this.#isClosed) {
      if (!this.#skip() && !this.#readHead()) break;
    }
    this.#isAdvancing = false;
  }

  /** Passes over the rest of a body nobody read. @returns whether there was one */
  #skip(): boolean {
    if (this.#unread === 0) return false;
    this.#unread -= this.#waiting.takeFirst(this.#unread).length;
    return true;
  }

  /** @returns false when there is no whole head */
  #readHead(): boolean {
    const { pieces } = this.#waiting;
    const bytes = this.#waiting.take();
    const reading = this.#heads.read(bytes);
    if (reading === "more" && pieces < MAX_HEAD_PIECES) {
      this.#waiting.push(bytes, pieces);
      return false;
    }
    const { head, length, bodyAt } = this.#heads;
    const isFetched = head?.segment === undefined;
    // Without the gate's word no more of a body is held than may wait anyway.
    if (reading !== "head" || !head || (isFetched && length > MAX_WAITING_BYTES)) {
      this.#tunnel = this.host.openTunnel(this.socket);
      this.#tunnel.receive(bytes);
      return false;
    }
    this.#takeIn(bytes, bodyAt, length);
    this.#stage = "gate";
    this.#call = isFetched
      ? new FetchedCall(this, this.host.fetch, head)
      : new Call(this.host, this, head);
    this.#call.check();
    return true;
  }

  /** Takes a body that came with its head and nothing behind it as it is, which is the rule. */
  #takeIn(bytes: Buffer, bodyAt: number, length: number): void {
    const isWhole = bodyAt + length === bytes.length;
    this.#body = isWhole ? bytes : noBytes;
    this.#bodyAt = isWhole ? bodyAt : 0;
    this.#unread = isWhole ? 0 : length;
    if (!isWhole) this.#waiting.push(pieceOf(bytes, bodyAt));
  }

  #fill(bytes: Buffer): void {
    this.#movedS = this.host.upS;
    const at = this.#body.length - this.#unread;
    const size = Math.min(bytes.length, this.#unread);
    bytes.copy(this.#body, at, 0, size);
    this.#unread -= size;
    if (this.#unread > 0) return;
    if (size < bytes.length) this.#waiting.push(bytes.subarray(size));
    if (this.#call) this.#handle(this.#call);
  }

  #handle(call: Pending): void {
    this.#stage = "answer";
    const body = this.#body;
    this.#body = noBytes;
    call.answer(body, this.#bodyAt);
  }

  /** The answer was taken: on to the next request. */
  #finish(): void {
    this.#call = undefined;
    this.#body = noBytes;
    if (this.#closesAfter || this.host.isStopping) return this.#hangUp();
    this.#stage = "head";
    this.#resume();
    this.#advance();
  }

  /** Says that nothing more is sent, and waits for the client to say so too. */
  #hangUp(): void {
    this.#isClosed = true;
    this.#movedS = this.host.upS;
    this.socket.end();
  }

  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.socket.pause();
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.socket.resume();
  }
}

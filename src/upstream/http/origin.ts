import type { Socket, SocketHandler, TLSOptions } from "bun";
import { TurnQueue } from "../../lib/turnQueue.ts";
import type { AnswerLimits, AnswerTarget, Connection, Sending } from "../connection.ts";
import type { RequestText } from "../requestText.ts";
import { Exchange } from "./exchange.ts";
import { HeadReader } from "./head.ts";
import { RequestWriter } from "./requestWriter.ts";
import { Wire, type WireOwner } from "./wire.ts";

/** Idle connections kept per origin; more than this only help after a burst. */
const MAX_IDLE = 256;
/** Idle time after which we close first, ms; below the 60 s at which common nodes and proxies do. */
const MAX_IDLE_MS = 50_000;
/** A server that names its own time closes then; it is not met on its way. */
const KEEP_ALIVE_MARGIN_MS = 1_000;
const SWEEP_MS = 5_000;
/** Connections being opened at once; beyond it the server is not there. */
const MAX_DIALS = 1_024;
/** A connection opened for a request that was given up serves another one if it is this fresh, ms. */
const FRESH_DIAL_MS = 1_000;
/** Longest time to open a connection, its encryption included, ms. */
const MAX_DIAL_MS = 10_000;

export interface OriginOptions {
  /** Name or address to connect to. */
  readonly hostname: string;
  readonly port: number;
  /** Server name and trust of an encrypted connection; undefined for a plain one. */
  readonly tls: TLSOptions | undefined;
  /** Request line and fields up to the value of `content-length`, which stands last. */
  readonly head: string;
}

/** A connection being opened, and the request it was opened for. */
class Dial {
  readonly startedAtMs = performance.now();
  socket: Socket<Holder> | undefined;
  constructor(public exchange: Exchange | undefined) {}
}

/** What a socket belongs to: a connection being opened, and then the wire it became. */
interface Holder {
  dial: Dial | undefined;
  wire: Wire | undefined;
}

/**
 * Keep-alive HTTP/1.1 connections to one server, one request at a time on each. A request that
 * meets a kept connection the server had closed is sent once more, on a fresh one.
 */
export class Origin implements Connection, WireOwner {
  /** The last one freed is used first, so that those not needed grow old. */
  readonly #idle: Wire[] = [];
  readonly #dials = new Set<Dial>();
  /**
   * Requests of one turn of the event loop are written one right after the other, so that a server
   * that sleeps is woken once for all of them.
   */
  readonly #unsent = new TurnQueue<Exchange>((exchanges) => this.#send(exchanges));
  readonly #heads = new HeadReader();
  readonly #writer: RequestWriter;
  readonly #handler: SocketHandler<Holder>;
  #sweep: ReturnType<typeof setInterval> | undefined;
  /** When requests were last sent, which is near enough to when their connections become free. */
  #usedAtMs = performance.now();
  #isClosed = false;

  constructor(private readonly options: OriginOptions) {
    this.#writer = new RequestWriter(options.head);
    this.#handler = this.#createHandler();
  }

  post(body: RequestText, limits: AnswerLimits, target: AnswerTarget): Sending {
    const exchange = new Exchange(body, limits, this.#heads, target);
    this.#unsent.add(exchange);
    return exchange;
  }

  #send(exchanges: readonly Exchange[]): void {
    const nowMs = performance.now();
    this.#usedAtMs = nowMs;
    for (const exchange of exchanges) {
      if (exchange.isSettled) continue;
      const wire = this.#takeIdle(nowMs);
      if (wire) wire.carry(exchange, nowMs);
      else this.#dial(exchange);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const wire of this.#idle.splice(0)) wire.close();
    this.#stopSweeping();
  }

  freed(wire: Wire): void {
    const next = this.#firstWaiting();
    if (next) {
      wire.carry(next, performance.now());
      return;
    }
    wire.freeSinceMs = this.#usedAtMs;
    if (this.#isClosed || this.#idle.length >= MAX_IDLE) wire.close();
    else this.#idle.push(wire);
    this.#startSweeping();
  }

  diedIdle(exchange: Exchange): void {
    exchange.repeat();
    this.#dial(exchange);
  }

  /** Connections that were idle at the same time went through the same silence. */
  wasSilent(exchange: Exchange): void {
    const stale = this.#idle.filter(({ freeSinceMs }) => freeSinceMs < exchange.sentAtMs);
    for (const wire of stale) wire.close();
  }

  closed(wire: Wire): void {
    const index = this.#idle.indexOf(wire);
    if (index !== -1) this.#idle.splice(index, 1);
  }

  #takeIdle(nowMs: number): Wire | undefined {
    for (let wire = this.#idle.pop(); wire; wire = this.#idle.pop()) {
      if (nowMs < idleUntilMs(wire)) return wire;
      wire.close();
    }
    return undefined;
  }

  /** An exchange for which a connection is being opened, and which may as well use another. */
  #firstWaiting(): Exchange | undefined {
    if (this.#dials.size === 0) return undefined;
    for (const dial of this.#dials) {
      const { exchange } = dial;
      if (!exchange || exchange.isSettled || exchange.isRepeated) continue;
      dial.exchange = undefined;
      return exchange;
    }
    return undefined;
  }

  #dial(exchange: Exchange): void {
    exchange.carrier = undefined;
    const freshMs = performance.now() - FRESH_DIAL_MS;
    for (const dial of this.#dials) {
      const isSpare = !dial.exchange || dial.exchange.isSettled;
      if (!isSpare || dial.startedAtMs < freshMs) continue;
      dial.exchange = exchange;
      return;
    }
    if (this.#dials.size >= MAX_DIALS) return exchange.fail("unreachable");
    const dial = new Dial(exchange);
    this.#dials.add(dial);
    this.#startSweeping();
    const { hostname, port, tls } = this.options;
    const data: Holder = { dial, wire: undefined };
    const socket = this.#handler;
    // Failures come to the handler; the promise would only say the same again.
    Bun.connect<Holder>({ hostname, port, data, socket, ...(tls && { tls }) }).catch(() =>
      this.#dialFailed(dial),
    );
  }

  #createHandler(): SocketHandler<Holder> {
    const isPlain = this.options.tls === undefined;
    return {
      open: (socket) => {
        socket.setNoDelay(true);
        const { dial } = socket.data;
        if (dial) dial.socket = socket;
        if (isPlain) this.#opened(socket);
      },
      handshake: (socket, isDone, error) => {
        // Nothing is said to a server that has not proved its name.
        if (isDone && !error && socket.authorized) this.#opened(socket);
        else socket.terminate();
      },
      data: (socket, bytes) => socket.data.wire?.receive(bytes),
      drain: (socket) => socket.data.wire?.drained(),
      end: (socket) => this.#ended(socket.data),
      close: (socket) => this.#ended(socket.data),
      error: (socket) => this.#ended(socket.data),
      connectError: (socket) => this.#ended(socket.data),
    };
  }

  #opened(socket: Socket<Holder>): void {
    const { data } = socket;
    const { dial } = data;
    if (!dial || !this.#dials.delete(dial)) return socket.terminate();
    data.dial = undefined;
    const wire = new Wire(socket, this.#writer, this);
    data.wire = wire;
    const { exchange } = dial;
    if (exchange && !exchange.isSettled) wire.carry(exchange, performance.now());
    else this.freed(wire);
  }

  #ended({ dial, wire }: Holder): void {
    if (wire) wire.ended();
    else if (dial) this.#dialFailed(dial);
  }

  #dialFailed(dial: Dial): void {
    if (this.#dials.delete(dial)) dial.exchange?.fail("unreachable");
  }

  #startSweeping(): void {
    if (this.#sweep || this.#isClosed) return;
    this.#sweep = setInterval(() => this.#sweepOnce(), SWEEP_MS);
    this.#sweep.unref();
  }

  #stopSweeping(): void {
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }

  #sweepOnce(): void {
    const nowMs = performance.now();
    for (const wire of this.#idle.filter((one) => nowMs >= idleUntilMs(one))) wire.close();
    for (const dial of this.#dials) {
      // One that is only being looked up or called has no socket yet; the system ends it.
      if (nowMs - dial.startedAtMs > MAX_DIAL_MS) dial.socket?.terminate();
    }
    if (this.#idle.length === 0 && this.#dials.size === 0) this.#stopSweeping();
  }
}

function idleUntilMs({ freeSinceMs, keepAliveMs }: Wire): number {
  return freeSinceMs + Math.min(MAX_IDLE_MS, keepAliveMs - KEEP_ALIVE_MARGIN_MS);
}

import type { Socket } from "bun";
import type { Peers } from "../lib/client.ts";

/** Most that may wait to be sent to a server that is still being connected to. */
const MAX_WAITING_BYTES = 65_536;

/** Time in which one end takes nothing, after which nothing is expected of it, s. */
const MAX_STALL_S = 60;
/** Time for a client to close a connection that was closed on the other side, s. */
const MAX_HANG_UP_S = 5;

/** One direction: what one end sends and the other has not taken yet. */
class Lane {
  #rest: Buffer | undefined;
  /** Whether the source sends nothing more. */
  #isEnded = false;
  /** Seconds since anything was taken of what waits. */
  #stalledS = 0;

  /** @param finish - called when the source has ended and all was taken */
  constructor(
    private readonly source: Socket<unknown>,
    private readonly sink: Socket<unknown>,
    private readonly finish: () => void,
  ) {}

  push(bytes: Buffer): void {
    if (this.#rest) {
      this.#rest = Buffer.concat([this.#rest, bytes]);
      return;
    }
    const written = this.sink.write(bytes);
    if (written >= bytes.length) return;
    this.#rest = bytes.subarray(Math.max(0, written));
    this.#stalledS = 0;
    this.source.pause();
  }

  /** The sink takes more. */
  drain(): void {
    if (!this.#rest) return;
    const written = Math.max(0, this.sink.write(this.#rest));
    if (written > 0) this.#stalledS = 0;
    if (written < this.#rest.length) {
      this.#rest = this.#rest.subarray(written);
      return;
    }
    this.#rest = undefined;
    if (this.#isEnded) this.finish();
    else this.source.resume();
  }

  /** The source sends nothing more; what is on its way still arrives. */
  end(): void {
    this.#isEnded = true;
    if (!this.#rest) this.finish();
  }

  /** Called once per second. @returns whether the sink has taken nothing for too long */
  isStalled(): boolean {
    return this.#rest !== undefined && ++this.#stalledS > MAX_STALL_S;
  }
}

/**
 * Carries a connection on to the service's other server, byte for byte in both directions, each as
 * fast as its end is taken. Which client it is, is noted under the port the other server sees.
 */
export class Tunnel {
  #inner: Socket<unknown> | undefined;
  #up: Lane | undefined;
  #down: Lane | undefined;
  #port = 0;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isEnded = false;
  #isClosed = false;
  /** Seconds since the client was hung up on; undefined: it was not. */
  #hungUpS: number | undefined;

  /** @param port - of the other server, on the loopback address */
  constructor(
    private readonly client: Socket<unknown>,
    port: number,
    private readonly peers: Peers,
  ) {
    const { remoteAddress } = client;
    Bun.connect({
      hostname: "127.0.0.1",
      port,
      allowHalfOpen: true,
      socket: {
        open: (inner) => this.#open(inner, remoteAddress),
        data: (_, bytes) => this.#down?.push(bytes),
        drain: () => this.#up?.drain(),
        end: () => this.#down?.end(),
        close: () => this.#innerClosed(),
        error: () => this.#innerClosed(),
        connectError: () => this.#innerClosed(),
      },
    }).catch(() => this.#innerClosed());
  }

  /** The client sent something. */
  receive(bytes: Buffer): void {
    if (this.#up) return this.#up.push(bytes);
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.client.pause();
  }

  /** The client takes more. */
  drain(): void {
    this.#down?.drain();
  }

  /** The client sends nothing more. */
  end(): void {
    this.#isEnded = true;
    this.#up?.end();
  }

  /** The client is gone. */
  close(): void {
    this.#isClosed = true;
    this.peers.delete(this.#port);
    this.#inner?.terminate();
  }

  /** Called once per second: ends what nobody takes. */
  sweep(): void {
    const isLeft = this.#hungUpS !== undefined && ++this.#hungUpS > MAX_HANG_UP_S;
    if (isLeft || this.#down?.isStalled() || this.#up?.isStalled()) this.client.terminate();
  }

  #hangUp(): void {
    this.#hungUpS ??= 0;
    this.client.end();
  }

  #open(inner: Socket<unknown>, address: string): void {
    if (this.#isClosed) return void inner.terminate();
    this.#inner = inner;
    this.#port = inner.localPort;
    this.peers.set(this.#port, address);
    this.#up = new Lane(this.client, inner, () => inner.shutdown());
    this.#down = new Lane(inner, this.client, () => this.#hangUp());
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.client.resume();
    this.#up.push(Buffer.concat(this.#waiting));
    this.#waiting = [];
    if (this.#isEnded) this.#up.end();
  }

  #innerClosed(): void {
    this.peers.delete(this.#port);
    if (this.#isClosed) return;
    if (this.#down) this.#down.end();
    else this.#hangUp();
  }
}

import type { Socket } from "bun";
import type { PlainAnswer } from "../lib/http.ts";

/** Counts large bodies while they wait to be taken. */
export interface BodyMemory {
  hold(bytes: number): { release(): void };
}

/** Bodies from this size on are counted. */
const MIN_COUNTED_BYTES = 1_048_576;
/** Most that is handed to the socket at once. */
const PIECE_BYTES = 262_144;

/** Small answers are put together here: writing takes a copy at once, so all connections share it. */
const scratch = Buffer.allocUnsafeSlow(65_536);

/** What a connection has to send. */
export class Outbox {
  /** What the socket has not taken yet, and how much it took of the first. */
  #parts: Uint8Array[] = [];
  #taken = 0;
  #lease: { release(): void } | undefined;

  constructor(
    private readonly socket: Socket<unknown>,
    private readonly memory: BodyMemory,
  ) {}

  get isEmpty(): boolean {
    return this.#parts.length === 0;
  }

  /**
   * Sends an answer; the outbox must be empty.
   * @param head - ASCII
   */
  send(head: string, body: PlainAnswer["body"]): void {
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    const bodyBytes = bytes?.length ?? 0;
    const size = head.length + bodyBytes;
    if (size <= scratch.length) {
      scratch.write(head, 0, "latin1");
      if (bytes) scratch.set(bytes, head.length);
      const written = this.socket.write(scratch, 0, size);
      // A broken connection tells of its end itself.
      if (written < size)
        this.#parts.push(Buffer.from(scratch.subarray(Math.max(0, written), size)));
      return;
    }
    if (bodyBytes >= MIN_COUNTED_BYTES) this.#lease = this.memory.hold(bodyBytes);
    this.#parts.push(Buffer.from(head, "latin1"));
    if (bytes) this.#parts.push(bytes);
    this.drain();
  }

  /** Goes on where the socket stopped. @returns whether it took anything */
  drain(): boolean {
    let hasMoved = false;
    for (let part = this.#parts[0]; part; part = this.#parts[0]) {
      const size = Math.min(PIECE_BYTES, part.length - this.#taken);
      const written = this.socket.write(part, this.#taken, size);
      if (written > 0) {
        hasMoved = true;
        this.#taken += written;
      }
      if (written < size) return hasMoved;
      if (this.#taken < part.length) continue;
      this.#parts.shift();
      this.#taken = 0;
    }
    this.drop();
    return hasMoved;
  }

  /** Forgets what was not taken. */
  drop(): void {
    this.#parts.length = 0;
    this.#lease?.release();
    this.#lease = undefined;
  }
}

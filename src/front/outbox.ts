import type { Socket } from "bun";
import type { PlainAnswer } from "../lib/http.ts";
import { AnswerBytes } from "./answerBytes.ts";

/** Counts large bodies while they wait to be taken. */
export interface BodyMemory {
  hold(bytes: number): { release(): void };
}

/** Bodies from this size on are counted. */
const MIN_COUNTED_BYTES = 1_048_576;
/** Most that is handed to the socket at once. */
const PIECE_BYTES = 262_144;

/** Where all connections put their answers together. */
const whole = new AnswerBytes();

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
   * @param date - as for `AnswerBytes.begin`
   */
  send(answer: PlainAnswer, date: string): void {
    const rest = whole.begin(answer, date);
    const { bytes, size } = whole;
    const written = this.socket.write(bytes, 0, size);
    // A broken connection tells of its end itself.
    if (written < size) this.#parts.push(Buffer.from(bytes.subarray(Math.max(0, written), size)));
    if (rest.length === 0) return;
    const held = rest.reduce((sum, { length }) => sum + length, 0);
    if (held >= MIN_COUNTED_BYTES) this.#lease = this.memory.hold(held);
    this.#parts.push(...rest);
    if (written === size) this.drain();
  }

  /** Goes on where the socket stopped. @returns whether it took anything */
  drain(): boolean {
    let hasMoved = false;
    for (let part = this.#parts[0]; part; part = this.#parts[0]) {
      const size = Math.min(PIECE_BYTES, part.length - this.#taken);
      const written = size === 0 ? 0 : this.socket.write(part, this.#taken, size);
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

import type { Socket } from "bun";
import { digitsOf, putNumber } from "../../lib/ascii.ts";
import type { RequestText } from "../requestText.ts";

/** Bodies up to this size are put together in place; larger ones are few. */
const MAX_BODY_BYTES = 32_768;
/** Bytes that one UTF-16 unit takes in UTF-8, at most. */
const MAX_UNIT_BYTES = 3;
const MAX_DIGITS = 15;
const CR = 0x0d;
const LF = 0x0a;

/**
 * Writes requests to one server, which differ in their bodies only. The head stays where it is from
 * one request to the next, so that of a request only the length and the body are written.
 */
export class RequestWriter {
  readonly #head: Buffer;
  readonly #bytes: Buffer;
  /** Where every body begins. */
  readonly #bodyAt: number;
  /** Digits of the last length, behind which the head ends. */
  #digits = 0;

  /** @param head - request line and fields up to the value of `content-length`, which stands last */
  constructor(head: string) {
    this.#head = Buffer.from(head, "latin1");
    this.#bodyAt = this.#head.length + MAX_DIGITS + 4;
    this.#bytes = Buffer.allocUnsafeSlow(this.#bodyAt + MAX_BODY_BYTES);
    this.#bytes.set([CR, LF, CR, LF], this.#bodyAt - 4);
  }

  /**
   * Writes a request.
   * @returns what the socket has not taken yet; undefined: nothing; "closed": it takes nothing more
   */
  write(socket: Socket<unknown>, body: RequestText): Uint8Array | "closed" | undefined {
    if (body.length * MAX_UNIT_BYTES > MAX_BODY_BYTES) return this.#writeLarge(socket, body);
    const length = body.writeTo(this.#bytes, this.#bodyAt) - this.#bodyAt;
    const start = this.#placeHead(length);
    const size = this.#bodyAt + length - start;
    const written = socket.write(this.#bytes, start, size);
    if (written === size) return undefined;
    if (written < 0) return "closed";
    return Buffer.from(this.#bytes.subarray(start + written, start + size));
  }

  /** Puts the length in front of the body, and the head in front of it. @returns where it begins */
  #placeHead(length: number): number {
    const digits = digitsOf(length);
    const at = this.#bodyAt - 4 - digits;
    putNumber(this.#bytes, at, length);
    const start = at - this.#head.length;
    if (digits !== this.#digits) this.#bytes.set(this.#head, start);
    this.#digits = digits;
    return start;
  }

  #writeLarge(socket: Socket<unknown>, body: RequestText): Uint8Array | "closed" | undefined {
    const whole = Buffer.allocUnsafeSlow(body.length * MAX_UNIT_BYTES);
    const bytes = whole.subarray(0, body.writeTo(whole, 0));
    const head = Buffer.from(`${this.#head.toString("latin1")}${bytes.length}\r\n\r\n`, "latin1");
    const request = Buffer.concat([head, bytes]);
    const written = socket.write(request);
    if (written < 0) return "closed";
    return written < request.length ? request.subarray(written) : undefined;
  }
}

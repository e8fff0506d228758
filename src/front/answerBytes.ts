import { STATUS_CODES } from "node:http";
import { putNumber, putText } from "../lib/ascii.ts";
import type { FieldSink, PlainAnswer } from "../lib/http.ts";
import { Spliced } from "../lib/spliced.ts";

/** Answers up to this size are put together in one piece. */
const MAX_WHOLE_BYTES = 65_536;
const MAX_NUMBER_LENGTH = 24;
const nothing: readonly Uint8Array[] = [];

/** The field `Date` as of now. */
export function dateField(): string {
  return `date: ${new Date().toUTCString()}\r\n`;
}

/**
 * Where answers are put together, one after the other: a socket takes a copy of what it is given to
 * write, so all connections share it.
 */
export class AnswerBytes implements FieldSink {
  size = 0;
  #bytes = Buffer.allocUnsafeSlow(MAX_WHOLE_BYTES);
  /** What the last answer began with, and where that ended: first line, fields, and date. */
  #status = 0;
  #fields = "";
  #date = "";
  #startSize = 0;
  /** What stood behind it, and where that ended. */
  #steady = "";
  #steadySize = 0;
  /** First lines by status; statuses are those of the error catalogue and few more. */
  readonly #statusLines = new Map<number, string>();

  /** What was put together; the first `size` bytes count. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /**
   * Begins an answer: its head, and its body where that is small.
   * @param date - the field `Date`, as by `dateField`
   * @returns the rest of the body, which has to be sent behind it
   */
  begin(answer: PlainAnswer, date: string): readonly Uint8Array[] {
    this.size = 0;
    const { body } = answer;
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    this.#writeHead(answer, bytes?.length ?? 0, date);
    return bytes ? this.#add(bytes) : nothing;
  }

  /** @param text - ASCII */
  text(text: string): void {
    this.#reserve(text.length);
    this.size = putText(this.#bytes, this.size, text);
  }

  number(value: number): void {
    this.#reserve(MAX_NUMBER_LENGTH);
    this.size = putNumber(this.#bytes, this.size, value);
  }

  #writeHead({ status, fields, more }: PlainAnswer, length: number, date: string): void {
    this.#writeStart(status, fields, date, more?.steadyFields() ?? "");
    more?.writeFields(this);
    this.text("content-length: ");
    this.number(length);
    this.text("\r\n\r\n");
  }

  /** What most answers begin with stays where it is from one to the next. */
  #writeStart(status: number, fields: string, date: string, steady: string): void {
    const isSame = status === this.#status && fields === this.#fields && date === this.#date;
    if (isSame && steady === this.#steady) {
      this.size = this.#steadySize;
      return;
    }
    if (isSame) this.size = this.#startSize;
    else {
      this.text(this.#statusLine(status));
      this.text(fields);
      this.text(date);
      this.#status = status;
      this.#fields = fields;
      this.#date = date;
      this.#startSize = this.size;
    }
    this.text(steady);
    this.#steady = steady;
    this.#steadySize = this.size;
  }

  #add(body: Uint8Array | Spliced): readonly Uint8Array[] {
    const isSpliced = body instanceof Spliced;
    if (this.size + body.length > MAX_WHOLE_BYTES) return isSpliced ? body.parts() : [body];
    if (isSpliced) body.copyTo(this.#bytes, this.size);
    else this.#bytes.set(body, this.size);
    this.size += body.length;
    return nothing;
  }

  #statusLine(status: number): string {
    const known = this.#statusLines.get(status);
    if (known) return known;
    const line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Unknown"}\r\n`;
    this.#statusLines.set(status, line);
    return line;
  }

  #reserve(bytes: number): void {
    if (this.size + bytes <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(2 * (this.size + bytes));
    this.#bytes.copy(grown, 0, 0, this.size);
    this.#bytes = grown;
  }
}

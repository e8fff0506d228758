import { MemberScanner, type Span } from "../lib/jsonSpan.ts";

/** A JSON-RPC response object within its bytes. */
export interface NodeAnswer {
  readonly bytes: Uint8Array;
  readonly id: Span | undefined;
  /** The value of `result`; undefined when there is none. */
  readonly result: Span | undefined;
  /** The value of `error`; undefined when absent or null. */
  readonly error: Span | undefined;
}

/** First byte of `null`; no other value begins with it. */
const FIRST_OF_NULL = 0x6e;

/** Finds the members of response objects that count. */
export class AnswerScanner extends MemberScanner {
  constructor() {
    super(["id", "result", "error"]);
  }

  /** Where the id stands, as by `startOf` and `endOf`. */
  get idStart(): number {
    return this.startOf(0);
  }

  get idEnd(): number {
    return this.endOf(0);
  }

  /**
   * The response object that was looked at last, without what stands around it.
   * @param bytes - those that were looked at
   * @param own - a copy of the object alone; without it a view of it is made
   * @returns undefined when it has neither result nor error
   */
  answerIn(bytes: Uint8Array, own?: Uint8Array): NodeAnswer | undefined {
    const { start, end } = this;
    const hasError = this.has(2) && bytes[this.startOf(2)] !== FIRST_OF_NULL;
    if (!hasError && !this.has(1)) return undefined;
    const isAlone = start === 0 && end === bytes.length;
    return {
      bytes: own ?? (isAlone ? bytes : bytes.subarray(start, end)),
      id: this.#within(0, start),
      result: this.#within(1, start),
      error: hasError ? this.#within(2, start) : undefined,
    };
  }

  #within(index: number, start: number): Span | undefined {
    if (!this.has(index)) return undefined;
    return { start: this.startOf(index) - start, end: this.endOf(index) - start };
  }
}

/** Whether a value is `null`. */
export function isNull(bytes: Uint8Array, span: Span): boolean {
  return bytes[span.start] === FIRST_OF_NULL;
}

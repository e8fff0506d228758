import { type FrontHead, HEAD_END, headStarts, MAX_LENGTH, parseHead } from "./head.ts";

/** Most bytes of a head; a longer one is for the other server. */
export const MAX_HEAD_BYTES = 16_384;
/** Heads kept of a connection, and the longest that is kept. */
const MAX_KEPT = 4;
const MAX_KEPT_LENGTH = 2_048;

/** A head that was read, cut where the length of the body stands. */
interface KeptHead {
  readonly head: FrontHead;
  readonly before: string;
  readonly after: string;
}

/** What a text begins with: a head, the part of one, or something for the other server. */
export type HeadReading = "head" | "more" | "other";

/**
 * Reads the heads of one connection. Clients that keep a connection send the same head again and
 * again but for the length of the body, so it is compared before it is parsed. The head and what
 * was found out about it are found again then.
 */
export class HeadMemo {
  /** Of the head read last. */
  head: FrontHead | undefined;
  /** Length of its body. */
  length = 0;
  /** Where its body begins. */
  bodyAt = 0;
  readonly #kept: KeptHead[] = [];

  /** @param prefix - as for `parseHead` */
  constructor(private readonly prefix: string) {}

  /** @param text - one character per byte; may go on behind the head */
  read(text: string): HeadReading {
    for (const kept of this.#kept) if (this.#isSame(kept, text)) return "head";
    const end = text.indexOf(HEAD_END);
    if (end === -1) return this.#mayBecomeHead(text) ? "more" : "other";
    const headText = text.slice(0, end + HEAD_END.length);
    const parsed = parseHead(headText, this.prefix);
    if (!parsed) return "other";
    const { head, length, lengthStart, lengthEnd } = parsed;
    this.head = head;
    this.length = length;
    this.bodyAt = headText.length;
    if (headText.length <= MAX_KEPT_LENGTH) {
      if (this.#kept.length === MAX_KEPT) this.#kept.pop();
      const [before, after] = [headText.slice(0, lengthStart), headText.slice(lengthEnd)];
      this.#kept.unshift({ head, before: ownCopy(before), after: ownCopy(after) });
    }
    return "head";
  }

  #isSame({ head, before, after }: KeptHead, text: string): boolean {
    if (!text.startsWith(before)) return false;
    if (after === "") {
      this.head = head;
      this.length = 0;
      this.bodyAt = before.length;
      return true;
    }
    let at = before.length;
    let length = 0;
    let digit = text.charCodeAt(at) - 0x30;
    const hasZero = digit === 0;
    while (digit >= 0 && digit <= 9 && length <= MAX_LENGTH) {
      length = length * 10 + digit;
      digit = text.charCodeAt(++at) - 0x30;
    }
    const digits = at - before.length;
    const isPlain = digits > 0 && length <= MAX_LENGTH && !(hasZero && digits > 1);
    if (!isPlain || !text.startsWith(after, at)) return false;
    this.head = head;
    this.length = length;
    this.bodyAt = at + after.length;
    return true;
  }

  #mayBecomeHead(text: string): boolean {
    if (text.length >= MAX_HEAD_BYTES) return false;
    return headStarts.some((start) =>
      text.length < start.length ? start.startsWith(text) : text.startsWith(start),
    );
  }
}

/** A text that does not keep the longer one in memory it was cut from. */
function ownCopy(text: string): string {
  return Buffer.from(text, "latin1").toString("latin1");
}

import { HeadShape } from "../lib/headShape.ts";
import { type FrontHead, HEAD_END, headStarts, MAX_LENGTH, parseHead } from "./head.ts";

/** Most bytes of a head; a longer one is for the other server. */
export const MAX_HEAD_BYTES = 16_384;
/** Heads kept of a connection, and the longest that is kept. */
const MAX_KEPT = 4;
const MAX_KEPT_LENGTH = 2_048;

/** A head that was read. */
interface KeptHead {
  readonly head: FrontHead;
  readonly shape: HeadShape;
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

  /** @param bytes - may go on behind the head */
  read(bytes: Buffer): HeadReading {
    for (const kept of this.#kept) if (this.#isSame(kept, bytes)) return "head";
    const text = bytes.toString("latin1", 0, Math.min(bytes.length, MAX_HEAD_BYTES));
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
      this.#kept.unshift({ head, shape: new HeadShape(headText, lengthStart, lengthEnd) });
    }
    return "head";
  }

  #isSame({ head, shape }: KeptHead, bytes: Buffer): boolean {
    if (!shape.fits(bytes) || shape.length > MAX_LENGTH) return false;
    this.head = head;
    this.length = shape.length;
    this.bodyAt = shape.end;
    return true;
  }

  #mayBecomeHead(text: string): boolean {
    if (text.length >= MAX_HEAD_BYTES) return false;
    return headStarts.some((start) =>
      text.length < start.length ? start.startsWith(text) : text.startsWith(start),
    );
  }
}

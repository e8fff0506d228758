import { type FrontHead, HEAD_END, headStarts, MAX_LENGTH, parseHead } from "./head.ts";

/** Most bytes of a head; a longer one is for the other server. */
export const MAX_HEAD_BYTES = 16_384;
/** Heads kept of a connection, and the longest that is kept. */
const MAX_KEPT = 4;
const MAX_KEPT_LENGTH = 2_048;
const ZERO = 0x30;

/** A head that was read, cut where the length of the body stands. */
interface KeptHead {
  readonly head: FrontHead;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
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
      const [before, after] = [headText.slice(0, lengthStart), headText.slice(lengthEnd)];
      this.#kept.unshift({ head, before: bytesOf(before), after: bytesOf(after) });
    }
    return "head";
  }

  #isSame({ head, before, after }: KeptHead, bytes: Buffer): boolean {
    if (!hasAt(bytes, 0, before)) return false;
    let at = before.length;
    let length = 0;
    // Without a body there is no length.
    if (after.length > 0) {
      const first = bytes[at] ?? 0;
      for (let digit = first - ZERO; digit >= 0 && digit <= 9; ) {
        length = length * 10 + digit;
        if (length > MAX_LENGTH) return false;
        digit = (bytes[++at] ?? 0) - ZERO;
      }
      const digits = at - before.length;
      const isPlain = digits > 0 && (first !== ZERO || digits === 1);
      if (!isPlain || !hasAt(bytes, at, after)) return false;
    }
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

/** Whether a part stands at a place of the bytes. */
function hasAt(bytes: Buffer, start: number, part: Uint8Array): boolean {
  if (start + part.length > bytes.length) return false;
  for (let at = 0; at < part.length; at++) if (bytes[start + at] !== part[at]) return false;
  return true;
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text, "latin1");
}

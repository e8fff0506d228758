import { isText, textOf } from "../lib/jsonSpan.ts";

/** Names that are remembered; a power of two. */
const PLACES = 256;
/** Longest name that is remembered. */
const MAX_LENGTH = 64;

/**
 * Names of methods as texts. There are few of them and each is asked for again and again, so the
 * text is kept that was made the last time; a name that is made up takes another's place at most.
 */
export class MethodNames {
  readonly #known: (string | undefined)[] = Array.from({ length: PLACES });

  /** The text of a byte range. */
  read(bytes: Uint8Array, start: number, end: number): string {
    const place = placeOf(bytes, start, end);
    const known = this.#known[place];
    if (known !== undefined && isText(bytes, start, end, known)) return known;
    const name = textOf(bytes, { start, end });
    // Of other texts than ASCII, equal bytes and equal characters are not the same.
    const isAscii = name.length === end - start;
    if (isAscii && name.length <= MAX_LENGTH) this.#known[place] = name;
    return name;
  }
}

function placeOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = end - start;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0;
  return hash & (PLACES - 1);
}

const ZERO = 0x30;
/** From this length on, a call of the runtime costs less than byte by byte. */
const MIN_COMPARED_BYTES = 48;
/** Digits of a length, at most; more are no length of anything that is accepted. */
const MAX_DIGITS = 10;

/**
 * A head of HTTP/1.1 but for the value of its `Content-Length`. Who keeps a connection sends the
 * same head again and again, and comparing bytes costs less than reading them.
 */
export class HeadShape {
  /** Of the head that fitted last: the length it names, and where it ends. */
  length = 0;
  end = 0;
  readonly #before: Buffer;
  readonly #after: Buffer;

  /**
   * @param text - the head with the empty line behind it, one character per byte
   * @param start - where the value begins; the end of the text when there is none
   * @param end - where it ends
   */
  constructor(text: string, start: number, end: number) {
    this.#before = Buffer.from(text.slice(0, start), "latin1");
    this.#after = Buffer.from(text.slice(end), "latin1");
  }

  /** Whether bytes begin with such a head. */
  fits(bytes: Buffer): boolean {
    if (!hasAt(bytes, 0, this.#before)) return false;
    let at = this.#before.length;
    let length = 0;
    // Without a body there is no length.
    if (this.#after.length > 0) {
      const first = bytes[at];
      for (let digit = digitAt(bytes, at); digit !== -1; digit = digitAt(bytes, ++at)) {
        length = length * 10 + digit;
      }
      const digits = at - this.#before.length;
      const isPlain = digits === 1 || (digits > 0 && digits <= MAX_DIGITS && first !== ZERO);
      if (!isPlain || !hasAt(bytes, at, this.#after)) return false;
    }
    this.length = length;
    this.end = at + this.#after.length;
    return true;
  }
}

/** Whether a part stands at a place of the bytes. */
function hasAt(bytes: Buffer, start: number, part: Buffer): boolean {
  const { length } = part;
  if (start + length > bytes.length) return false;
  if (length >= MIN_COMPARED_BYTES) {
    return bytes.compare(part, 0, length, start, start + length) === 0;
  }
  for (let at = 0; at < length; at++) if (bytes[start + at] !== part[at]) return false;
  return true;
}

/** -1: not a digit. */
function digitAt(bytes: Buffer, at: number): number {
  const digit = (bytes[at] ?? 0) - ZERO;
  return digit >= 0 && digit <= 9 ? digit : -1;
}

/** Byte range of a value: `start` is its first byte, `end` the one after its last. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** Containers nested deeper than this are refused; the scanner's stack is bounded by it. */
const MAX_DEPTH = 8_192;
/** Opening byte of each container that is still open; one scan is done before another begins. */
const open = new Uint8Array(MAX_DEPTH);
let depth = 0;

/** So many plain bytes of a string in a row are looked at one by one; the rest with a search. */
const LONG_RUN_BYTES = 128;
const FIRST_PIECE_BYTES = 1_024;
/**
 * Quote, backslash and control characters. A class of a few characters is searched many bytes at a
 * time; the same said as "none of the others" is not.
 */
const notPlain = new RegExp(`["\\\\\\0-${String.fromCharCode(0x1f)}]`);

const MAX_DIGITS = 10;

/** Returned by the scanning functions when the bytes are not JSON. */
const INVALID = -1;

const decoder = new TextDecoder();

/** Text of a byte range. */
export function textOf(bytes: Uint8Array, span: Span): string {
  // A buffer needs no view to be cut out first.
  if (bytes instanceof Buffer) return bytes.toString("utf8", span.start, span.end);
  return decoder.decode(bytes.subarray(span.start, span.end));
}

/** Whether a byte range holds a text of one byte per character, such as a name or a number. */
export function isText(bytes: Uint8Array, start: number, end: number, text: string): boolean {
  return equalsKey(bytes, start, end, text);
}

/** The number that one to ten digits stand for; undefined where there is anything else. */
export function digitsAt(bytes: Uint8Array, start: number, end: number): number | undefined {
  if (end <= start || end - start > MAX_DIGITS) return undefined;
  let value = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (!isDigit(byte)) return undefined;
    value = value * 10 + ((byte ?? 0) - 0x30);
  }
  return value;
}

/** The JSON value in a byte range, parsed. */
export function valueOf(bytes: Uint8Array, span: Span): unknown {
  return JSON.parse(textOf(bytes, span));
}

/**
 * The single top-level value of a JSON text, without the white space and byte order mark around it.
 * @param from - where the text begins; it ends with the bytes
 */
export function scanDocument(bytes: Uint8Array, from = 0): Span | undefined {
  const start = skipMark(bytes, from);
  const end = skipValue(bytes, start);
  if (end === INVALID || skipSpace(bytes, end) !== bytes.length) return undefined;
  return { start, end };
}

/**
 * Finds a few members of objects. What it found is there until it looks at the next object, so that
 * reading one makes no objects.
 */
export class MemberScanner {
  /** Where the object stands that was looked at last. */
  start = 0;
  end = 0;
  /** Start and end of each wanted member's value; no value starts at 0. */
  readonly #found: Int32Array;

  constructor(private readonly wanted: readonly string[]) {
    this.#found = new Int32Array(2 * wanted.length);
  }

  /**
   * Looks at a JSON text that is an object.
   * @param from - where the text begins; it ends with the bytes
   * @returns false when the bytes are no JSON text, or not one of an object
   */
  scan(bytes: Uint8Array, from = 0): boolean {
    const start = skipMark(bytes, from);
    return this.look(bytes, start) && skipSpace(bytes, this.end) === bytes.length;
  }

  /** Looks at the object that begins at `start`. @returns false when there is none */
  look(bytes: Uint8Array, start: number): boolean {
    for (let index = 0; index < this.#found.length; index++) this.#found[index] = 0;
    if (bytes[start] !== OPEN_BRACE) return false;
    const end = skipMembers(bytes, start, this.wanted, this.#found);
    this.start = start;
    this.end = end;
    return end !== INVALID;
  }

  /** Whether the object has a member. @param index - among those wanted */
  has(index: number): boolean {
    return this.startOf(index) !== 0;
  }

  /** Where a member's value begins; 0 when there is none. */
  startOf(index: number): number {
    return this.#found[2 * index] ?? 0;
  }

  /** Where a member's value ends. */
  endOf(index: number): number {
    return this.#found[2 * index + 1] ?? 0;
  }

  /** A member's value; undefined when there is none. */
  spanOf(index: number): Span | undefined {
    return this.has(index) ? { start: this.startOf(index), end: this.endOf(index) } : undefined;
  }
}

/** End of the object at `start`, or INVALID; notes in `found` where the wanted members' values stand. */
function skipMembers(
  bytes: Uint8Array,
  start: number,
  wanted: readonly string[],
  found: Int32Array,
): number {
  let at = skipSpace(bytes, start + 1);
  if (bytes[at] === CLOSE_BRACE) return at + 1;
  for (;;) {
    if (bytes[at] !== QUOTE) return INVALID;
    const keyEnd = skipString(bytes, at);
    if (keyEnd === INVALID) return INVALID;
    const colon = skipSpace(bytes, keyEnd);
    if (bytes[colon] !== COLON) return INVALID;
    const valueStart = skipSpace(bytes, colon + 1);
    const valueEnd = skipValue(bytes, valueStart);
    if (valueEnd === INVALID) return INVALID;
    const index = keyIndex(bytes, at, keyEnd, wanted);
    if (index !== -1) {
      found[2 * index] = valueStart;
      found[2 * index + 1] = valueEnd;
    }
    at = skipSpace(bytes, valueEnd);
    if (bytes[at] === CLOSE_BRACE) return at + 1;
    if (bytes[at] !== COMMA) return INVALID;
    at = skipSpace(bytes, at + 1);
  }
}

/**
 * Where the values of an object's members stand, by key; no value is parsed.
 * As in `JSON.parse`, the last of several equal keys counts and keys may be written with escapes.
 * @param span - an object as found by this scanner, so already known to be valid JSON
 * @param wanted - keys to look for
 * @returns spans in the order of `wanted`, or undefined when the value is not an object
 */
export function findMembers(
  bytes: Uint8Array,
  span: Span,
  wanted: readonly string[],
): readonly (Span | undefined)[] | undefined {
  if (bytes[span.start] !== OPEN_BRACE) return undefined;
  const members = new MemberScanner(wanted);
  members.look(bytes, span.start);
  return wanted.map((_, index) => members.spanOf(index));
}

/**
 * The elements of an array.
 * @param span - an array as found by this scanner
 * @param maxItems - scanning stops after one more than this
 * @returns spans in order, or undefined when the value is not an array
 */
export function findElements(
  bytes: Uint8Array,
  span: Span,
  maxItems: number,
): readonly Span[] | undefined {
  if (bytes[span.start] !== OPEN_BRACKET) return undefined;
  const items: Span[] = [];
  let start = skipSpace(bytes, span.start + 1);
  while (bytes[start] !== CLOSE_BRACKET && items.length <= maxItems) {
    const end = skipValue(bytes, start);
    items.push({ start, end });
    start = skipSpace(bytes, end);
    if (bytes[start] === COMMA) start = skipSpace(bytes, start + 1);
  }
  return items;
}

/**
 * Goes through a JSON text that is an array, in one pass.
 * @param visit - given where an element begins; returns where it ends, as `endOfValue` does
 * @returns false when the bytes are no such text, or the array has more than `maxItems` elements
 */
export function scanArray(
  bytes: Uint8Array,
  maxItems: number,
  visit: (bytes: Uint8Array, start: number) => number,
): boolean {
  let at = skipMark(bytes, 0);
  if (bytes[at] !== OPEN_BRACKET) return false;
  at = skipSpace(bytes, at + 1);
  if (bytes[at] === CLOSE_BRACKET) return skipSpace(bytes, at + 1) === bytes.length;
  for (let items = 0; items < maxItems; items++) {
    const end = visit(bytes, at);
    if (end === INVALID) return false;
    at = skipSpace(bytes, end);
    if (bytes[at] === CLOSE_BRACKET) return skipSpace(bytes, at + 1) === bytes.length;
    if (bytes[at] !== COMMA) return false;
    at = skipSpace(bytes, at + 1);
  }
  return false;
}

/** Where the value ends that begins at `start`; -1 when there is none. */
export function endOfValue(bytes: Uint8Array, start: number): number {
  return skipValue(bytes, start);
}

function keyIndex(bytes: Uint8Array, start: number, end: number, wanted: readonly string[]) {
  for (let index = 0; index < wanted.length; index++) {
    if (equalsKey(bytes, start + 1, end - 1, wanted[index] ?? "")) return index;
  }
  let at = start;
  while (at < end && bytes[at] !== BACKSLASH) at++;
  if (at === end) return -1;
  const key = valueOf(bytes, { start, end });
  return typeof key === "string" ? wanted.indexOf(key) : -1;
}

/** Start of what is not a byte order mark or white space. */
function skipMark(bytes: Uint8Array, from: number): number {
  const hasMark = bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf;
  return skipSpace(bytes, hasMark ? from + 3 : from);
}

function equalsKey(bytes: Uint8Array, start: number, end: number, key: string): boolean {
  if (end - start !== key.length) return false;
  for (let index = 0; index < key.length; index++) {
    if (bytes[start + index] !== key.charCodeAt(index)) return false;
  }
  return true;
}

function skipSpace(bytes: Uint8Array, start: number): number {
  let at = start;
  for (;;) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at;
    at++;
  }
}

/** End of the value that begins at `start`, or INVALID. Iterative: depth costs no call stack. */
function skipValue(bytes: Uint8Array, start: number): number {
  const first = bytes[start];
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return skipScalar(bytes, start);

  open[0] = first;
  depth = 1;
  let at = skipSpace(bytes, start + 1);
  /** True where a container may close at once because it has no member yet. */
  let fresh = true;
  for (;;) {
    const container = open[depth - 1];
    const byte = bytes[at];
    const closer = container === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
    if (fresh && byte === closer) {
      at = closeContainers(bytes, at);
      if (depth === 0 || at === INVALID) return at;
      continue;
    }
    if (container === OPEN_BRACE) {
      at = skipKey(bytes, at);
      if (at === INVALID) return INVALID;
    }
    const value = bytes[at];
    if (value === OPEN_BRACE || value === OPEN_BRACKET) {
      if (depth === MAX_DEPTH) return INVALID;
      open[depth++] = value;
      at = skipSpace(bytes, at + 1);
      fresh = true;
      continue;
    }
    at = skipScalar(bytes, at);
    if (at === INVALID) return INVALID;
    at = afterValue(bytes, at);
    if (depth === 0 || at === INVALID) return at;
    fresh = false;
  }
}

/** Closes the innermost container, whose closing byte stands at `at`, and goes on behind it. */
function closeContainers(bytes: Uint8Array, at: number): number {
  depth--;
  return depth === 0 ? at + 1 : afterValue(bytes, at + 1);
}

/** Start of what follows a value: the next member, or the end of the outermost container. */
function afterValue(bytes: Uint8Array, start: number): number {
  let at = skipSpace(bytes, start);
  for (;;) {
    const byte = bytes[at];
    if (byte === COMMA) {
      at = skipSpace(bytes, at + 1);
      const next = bytes[at];
      return next === CLOSE_BRACE || next === CLOSE_BRACKET ? INVALID : at;
    }
    const closer = open[depth - 1] === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
    if (byte !== closer) return INVALID;
    depth--;
    if (depth === 0) return at + 1;
    at = skipSpace(bytes, at + 1);
  }
}

/** Start of the value behind the key at `start`. */
function skipKey(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== QUOTE) return INVALID;
  const end = skipString(bytes, start);
  if (end === INVALID) return INVALID;
  const colon = skipSpace(bytes, end);
  return bytes[colon] === COLON ? skipSpace(bytes, colon + 1) : INVALID;
}

function skipScalar(bytes: Uint8Array, start: number): number {
  switch (bytes[start]) {
    case QUOTE:
      return skipString(bytes, start);
    case 0x74:
      return skipWord(bytes, start, "true");
    case 0x66:
      return skipWord(bytes, start, "false");
    case 0x6e:
      return skipWord(bytes, start, "null");
    default:
      return skipNumber(bytes, start);
  }
}

function skipWord(bytes: Uint8Array, start: number, word: string): number {
  const end = start + word.length;
  return equalsKey(bytes, start, end, word) ? end : INVALID;
}

function skipString(bytes: Uint8Array, start: number): number {
  const length = bytes.length;
  let at = start + 1;
  /** Where the run of plain bytes has become long enough to be searched in one go. */
  let longAt = at + LONG_RUN_BYTES;
  while (at < length) {
    if (at === longAt) {
      at = skipPlain(bytes, at);
      longAt = at + LONG_RUN_BYTES;
      continue;
    }
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) return at + 1;
    if (byte < 0x20) return INVALID;
    if (byte !== BACKSLASH) {
      at++;
      continue;
    }
    at = skipEscape(bytes, at + 1);
    if (at === INVALID) return INVALID;
    longAt = at + LONG_RUN_BYTES;
  }
  return INVALID;
}

/** First byte at or behind `start` that ends a string, begins an escape or may not stand in one. */
function skipPlain(bytes: Uint8Array, start: number): number {
  let at = start;
  // Pieces grow, so that a string that is plain after all is done in few of them, and one that is
  // not costs no more than a short piece beyond its end.
  for (let size = FIRST_PIECE_BYTES; at < bytes.length; size *= 2) {
    const end = Math.min(at + size, bytes.length);
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + at, end - at).toString("latin1");
    const special = text.search(notPlain);
    if (special !== -1) return at + special;
    at = end;
  }
  return at;
}

/** End of the escape whose letter stands at `at`. */
function skipEscape(bytes: Uint8Array, at: number): number {
  switch (bytes[at]) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return at + 1;
    case 0x75:
      for (let digit = at + 1; digit <= at + 4; digit++) if (!isHex(bytes[digit])) return INVALID;
      return at + 5;
    default:
      return INVALID;
  }
}

function isHex(byte = 0): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}

function isDigit(byte = 0): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function skipNumber(bytes: Uint8Array, start: number): number {
  let at = bytes[start] === 0x2d ? start + 1 : start;
  if (bytes[at] === 0x30) at++;
  else if ((at = skipDigits(bytes, at)) === INVALID) return INVALID;
  if (bytes[at] === 0x2e && (at = skipDigits(bytes, at + 1)) === INVALID) return INVALID;
  const exponent = bytes[at];
  if (exponent === 0x65 || exponent === 0x45) {
    const sign = bytes[at + 1];
    at = skipDigits(bytes, sign === 0x2b || sign === 0x2d ? at + 2 : at + 1);
  }
  return at;
}

/** End of one or more digits, or INVALID when there is none. */
function skipDigits(bytes: Uint8Array, start: number): number {
  let at = start;
  while (isDigit(bytes[at])) at++;
  return at === start ? INVALID : at;
}

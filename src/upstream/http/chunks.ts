const CR = 0x0d;
const LF = 0x0a;
const SEMICOLON = 0x3b;

/** Longest line that tells a chunk's size, extensions included, and all trailer fields together. */
const MAX_LINE_BYTES = 4_096;
const MAX_TRAILER_BYTES = 16_384;
/** Digits of a size; more would not fit any answer that is accepted. */
const MAX_SIZE_DIGITS = 8;

/** What comes next in the body. */
type State = "size" | "extension" | "size-end" | "data" | "data-end" | "trailer" | "done";

/**
 * Takes a chunked body apart (RFC 9112, section 7.1), in pieces cut anywhere. Extensions and
 * trailers are read over.
 */
export class ChunkReader {
  #state: State = "size";
  #size = 0;
  #digits = 0;
  /** Bytes of the line, or of the trailers, so far. */
  #lineBytes = 0;
  /** Bytes of the current trailer line, without its end. */
  #trailerLine = 0;
  #sawReturn = false;

  /** @param take - given the data, as views of the bytes read */
  constructor(private readonly take: (data: Uint8Array) => void) {}

  get isDone(): boolean {
    return this.#state === "done";
  }

  /**
   * Reads on.
   * @returns where it stopped: behind the body's end, or at the end of the bytes; -1 when they are
   *   not a chunked body
   */
  read(bytes: Uint8Array, start: number): number {
    let at = start;
    while (at < bytes.length && this.#state !== "done") {
      if (this.#state === "data") {
        const end = Math.min(bytes.length, at + this.#size);
        this.take(bytes.subarray(at, end));
        this.#size -= end - at;
        at = end;
        if (this.#size === 0) this.#state = "data-end";
      } else if (!this.#readByte(bytes[at++] ?? 0)) return -1;
    }
    return at;
  }

  #readByte(byte: number): boolean {
    switch (this.#state) {
      case "size":
        return this.#readSize(byte);
      case "extension":
        if (byte === CR) this.#state = "size-end";
        return byte !== LF && ++this.#lineBytes <= MAX_LINE_BYTES;
      case "size-end":
        this.#endSize();
        return byte === LF;
      case "data-end":
        return this.#readDataEnd(byte);
      default:
        return this.#readTrailer(byte);
    }
  }

  #readSize(byte: number): boolean {
    const digit = hexValue(byte);
    if (digit !== -1) {
      this.#size = this.#size * 16 + digit;
      return ++this.#digits <= MAX_SIZE_DIGITS;
    }
    if (this.#digits === 0) return false;
    this.#lineBytes = 0;
    if (byte === CR) this.#state = "size-end";
    else if (byte === SEMICOLON || byte === 0x20 || byte === 0x09) this.#state = "extension";
    else return false;
    return true;
  }

  #endSize(): void {
    this.#state = this.#size === 0 ? "trailer" : "data";
    this.#digits = 0;
    this.#lineBytes = 0;
    this.#sawReturn = false;
    this.#trailerLine = 0;
  }

  #readDataEnd(byte: number): boolean {
    if (!this.#sawReturn) {
      this.#sawReturn = true;
      return byte === CR;
    }
    this.#sawReturn = false;
    this.#state = "size";
    return byte === LF;
  }

  /** Reads over fields until the empty line. */
  #readTrailer(byte: number): boolean {
    if (++this.#lineBytes > MAX_TRAILER_BYTES) return false;
    if (this.#sawReturn) {
      if (byte !== LF) return false;
      this.#sawReturn = false;
      if (this.#trailerLine === 0) this.#state = "done";
      this.#trailerLine = 0;
      return true;
    }
    if (byte === CR) this.#sawReturn = true;
    else this.#trailerLine++;
    return byte !== LF;
  }
}

function hexValue(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

const none = Buffer.alloc(0);

/** Bytes that came and wait to be read, in the pieces they came in. */
export class ByteQueue {
  length = 0;
  pieces = 0;
  /** Most of the time there is one piece, which needs no list. */
  #first: Buffer | undefined;
  #others: Buffer[] | undefined;

  /** @param pieces - in how many they came */
  push(bytes: Buffer, pieces = 1): void {
    if (bytes.length === 0) return;
    this.length += bytes.length;
    this.pieces += pieces;
    if (!this.#first) this.#first = bytes;
    else (this.#others ??= []).push(bytes);
  }

  /** Takes all of it out, as one piece. */
  take(): Buffer {
    const first = this.#first ?? none;
    const all = this.#others ? Buffer.concat([first, ...this.#others], this.length) : first;
    this.#first = undefined;
    this.#others = undefined;
    this.length = 0;
    this.pieces = 0;
    return all;
  }

  /** Takes out the first bytes, `length` or as many as there are. */
  takeFirst(length: number): Buffer {
    const all = this.take();
    if (all.length <= length) return all;
    this.push(all.subarray(length));
    return all.subarray(0, length);
  }
}

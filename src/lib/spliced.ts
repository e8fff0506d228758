import type { Span } from "./jsonSpan.ts";

/** A range of some bytes. */
export interface Part extends Span {
  readonly bytes: Uint8Array;
}

/** Up to this size, byte by byte costs less than cutting out a view of the bytes. */
const MAX_LOOP_BYTES = 256;

/**
 * Bytes of which a part is replaced. They are put together where they are needed, so that those of
 * an answer are copied once on their way from a node to a client.
 */
export class Spliced {
  readonly length: number;

  /**
   * @param cut - what is left out of `bytes`
   * @param patch - what stands there instead
   */
  constructor(
    private readonly bytes: Uint8Array,
    private readonly cut: Span,
    private readonly patch: Part,
  ) {
    this.length = bytes.length - (cut.end - cut.start) + (patch.end - patch.start);
  }

  /** Writes all of it. */
  copyTo(target: Uint8Array, at: number): void {
    const { bytes, cut, patch } = this;
    const patchEnd = at + cut.start + patch.end - patch.start;
    copy(bytes, 0, cut.start, target, at);
    copy(patch.bytes, patch.start, patch.end, target, at + cut.start);
    copy(bytes, cut.end, bytes.length, target, patchEnd);
  }

  /** What it is made of, in order; views. */
  parts(): Uint8Array[] {
    const { bytes, cut, patch } = this;
    return [
      bytes.subarray(0, cut.start),
      patch.bytes.subarray(patch.start, patch.end),
      bytes.subarray(cut.end),
    ];
  }

  toBytes(): Uint8Array<ArrayBuffer> {
    const whole = new Uint8Array(this.length);
    this.copyTo(whole, 0);
    return whole;
  }
}

function copy(from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): void {
  if (end - start > MAX_LOOP_BYTES) return to.set(from.subarray(start, end), at);
  for (let index = start; index < end; index++) to[at + index - start] = from[index] ?? 0;
}

import { pieceOf } from "../../lib/piece.ts";
import type { AnswerLimits } from "../connection.ts";
import { type Lease, MIN_COUNTED_BYTES } from "../memory.ts";
import { ChunkReader } from "./chunks.ts";
import { type AnswerHead, HEAD_END, type HeadReader } from "./head.ts";

const headEnd = Buffer.from(HEAD_END);
const MAX_HEAD_BYTES = 16_384;
/** Interim answers before the one that counts. */
const MAX_INTERIM = 8;

/** Why a reader gave up. */
export type ReadFault = "malformed" | "too-large" | "no-memory" | "redirect";

/**
 * How far a reader is:
 * - more: it waits for bytes;
 * - room: it waits for `room` bytes of memory, see `grant`;
 * - done: the answer is complete.
 */
export type Progress = "more" | "room" | "done" | ReadFault;

/** Where a reader stands. */
type State = "head" | "room" | "length" | "chunked" | "close" | "done";

const noBytes = new Uint8Array(0);

/**
 * Reads one answer from a connection's bytes, cut anywhere. Memory of answers that are not small is
 * counted before it is filled.
 */
export class AnswerReader {
  head: AnswerHead | undefined;
  /** The body as it was sent, once done. */
  body: Uint8Array = noBytes;
  /** Counts the body's memory; undefined while it is small. */
  lease: Lease | undefined;
  /** Whether bytes came behind the answer, which belong to nothing. */
  hasSurplus = false;
  #state: State = "head";
  /** A head, or bytes that wait for room. */
  #kept: Uint8Array | undefined;
  #interim = 0;
  #filled = 0;
  /** A body whose length is not known, with room to grow; a single piece is left where it is. */
  #grown: Uint8Array = noBytes;
  #size = 0;
  #chunks: ChunkReader | undefined;

  constructor(
    private readonly limits: AnswerLimits,
    private readonly heads: HeadReader,
  ) {}

  /** Whether anything came of the answer. */
  get hasBegun(): boolean {
    return this.head !== undefined || this.#kept !== undefined || this.#interim > 0;
  }

  /** Bytes to be granted before the body is read. */
  get room(): number {
    const framing = this.head?.framing;
    return framing?.kind === "length" ? framing.length : 0;
  }

  read(bytes: Buffer): Progress {
    switch (this.#state) {
      case "head":
        return this.#readHead(bytes);
      case "room":
        this.#kept = this.#kept ? Buffer.concat([this.#kept, bytes]) : bytes;
        return "room";
      case "length":
        return this.#fill(bytes, 0);
      case "chunked":
        return this.#readChunks(bytes, 0);
      case "close":
        return this.#keep(bytes);
      case "done":
        this.hasSurplus = true;
        return "done";
    }
  }

  /** Goes on once there is room for the body. */
  grant(lease: Lease): Progress {
    this.lease = lease;
    const kept = this.#kept ?? noBytes;
    this.#kept = undefined;
    this.#state = "length";
    this.body = new Uint8Array(this.room);
    return this.#fill(kept, 0);
  }

  /** Notes that the connection ended. @returns false when the answer is not complete */
  end(): boolean {
    if (this.#state === "close") this.#finishGrown();
    return this.#state === "done";
  }

  #readHead(bytes: Buffer): Progress {
    const all = this.#kept ? Buffer.concat([this.#kept, bytes]) : bytes;
    this.#kept = undefined;
    const end = all.indexOf(headEnd);
    if (end === -1 || end > MAX_HEAD_BYTES) {
      if (all.length > MAX_HEAD_BYTES) return "malformed";
      this.#kept = all;
      return "more";
    }
    const head = this.heads.read(all.toString("latin1", 0, end));
    // A switch of protocols was not asked for.
    if (!head || head.status === 101) return "malformed";
    const bodyAt = end + HEAD_END.length;
    if (head.status < 200) {
      if (++this.#interim > MAX_INTERIM) return "malformed";
      return bodyAt === all.length ? "more" : this.#readHead(all.subarray(bodyAt));
    }
    this.head = head;
    if (head.status >= 300 && head.status < 400) return "redirect";
    return this.#beginBody(head, all, bodyAt);
  }

  #beginBody(head: AnswerHead, bytes: Uint8Array, start: number): Progress {
    const { framing } = head;
    if (framing.kind === "close") {
      this.#state = "close";
      return this.#keep(bytes.subarray(start));
    }
    if (framing.kind === "chunked") {
      this.#state = "chunked";
      this.#chunks = new ChunkReader((data) => this.#addPiece(data));
      return this.#readChunks(bytes, start);
    }
    const { length } = framing;
    if (length > this.limits.maxBytes) return "too-large";
    if (start + length <= bytes.length) {
      // All of it came at once, which is the rule for small answers.
      this.body = pieceOf(bytes, start, start + length);
      this.hasSurplus = start + length < bytes.length;
      this.#state = "done";
      return "done";
    }
    if (length >= MIN_COUNTED_BYTES) {
      this.#kept = bytes.subarray(start);
      this.#state = "room";
      return "room";
    }
    this.body = new Uint8Array(length);
    this.#state = "length";
    return this.#fill(bytes, start);
  }

  #fill(bytes: Uint8Array, start: number): Progress {
    const wanted = this.body.length - this.#filled;
    const end = Math.min(bytes.length, start + wanted);
    this.body.set(
      start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end),
      this.#filled,
    );
    this.#filled += end - start;
    if (this.#filled < this.body.length) return "more";
    this.hasSurplus = end < bytes.length;
    this.#state = "done";
    return "done";
  }

  #readChunks(bytes: Uint8Array, start: number): Progress {
    const end = this.#chunks?.read(bytes, start) ?? -1;
    if (end === -1) return "malformed";
    const fault = this.#sizeFault();
    if (fault) return fault;
    if (!this.#chunks?.isDone) return "more";
    this.hasSurplus = end < bytes.length;
    this.#finishGrown();
    return "done";
  }

  #keep(bytes: Uint8Array): Progress {
    this.#addPiece(bytes);
    return this.#sizeFault() ?? "more";
  }

  #addPiece(bytes: Uint8Array): void {
    const before = this.#size;
    this.#size += bytes.length;
    if (this.#size > this.limits.maxBytes || bytes.length === 0) return;
    if (before === 0) {
      this.#grown = bytes;
      return;
    }
    if (this.#size > this.#grown.length) {
      const grown = new Uint8Array(2 * this.#size);
      grown.set(this.#grown);
      this.#grown = grown;
    }
    this.#grown.set(bytes, before);
  }

  /**
   * Counts the body so far, and what it grows into. Whoever waited for room here could wait for
   * another who waits here too, so there is no waiting.
   */
  #sizeFault(): ReadFault | undefined {
    if (this.#size > this.limits.maxBytes) return "too-large";
    if (this.#size < MIN_COUNTED_BYTES) return undefined;
    this.lease ??= this.limits.memory.hold(0);
    return this.lease.grow(2 * this.#size - this.lease.bytes) ? undefined : "no-memory";
  }

  #finishGrown(): void {
    this.body =
      this.#grown.length === this.#size ? this.#grown : this.#grown.subarray(0, this.#size);
    this.#state = "done";
  }
}

import type { AnswerMemory, Lease } from "../upstream/index.ts";

/** A body above this size is handed to the connection piece by piece, as the caller takes it. */
const MIN_STREAMED_BYTES = 1_048_576;
const PIECE_BYTES = 262_144;

/**
 * What to send a caller: the bytes themselves, or for large ones a stream that keeps them in memory
 * once, counted until the caller has taken them all or has left.
 */
export function responseBody(
  bytes: Uint8Array<ArrayBuffer>,
  memory: AnswerMemory,
): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
  if (bytes.length < MIN_STREAMED_BYTES) return bytes;
  let at = 0;
  let lease: Lease | undefined;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        lease ??= memory.hold(bytes.length);
        controller.enqueue(bytes.subarray(at, at + PIECE_BYTES));
        at += PIECE_BYTES;
        if (at < bytes.length) return;
        controller.close();
        lease.release();
      },
      cancel() {
        lease?.release();
      },
    },
    { highWaterMark: 0 },
  );
}

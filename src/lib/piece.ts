/** Up to this size, a piece is copied out of the bytes it is part of. */
const MAX_COPIED_BYTES = 4_096;
/** Up to this size, byte by byte costs least. */
const MAX_LOOP_BYTES = 128;

/**
 * Part of what came from a socket. A view costs more than a small copy: it makes the runtime keep
 * the bytes in another way, and keeps all of them in memory.
 */
export function pieceOf(bytes: Uint8Array, start: number, end = bytes.length): Buffer {
  const size = end - start;
  if (size > MAX_COPIED_BYTES) return Buffer.from(bytes.buffer, bytes.byteOffset + start, size);
  const piece = Buffer.allocUnsafeSlow(size);
  if (size > MAX_LOOP_BYTES && bytes instanceof Buffer) bytes.copy(piece, 0, start, end);
  else for (let at = 0; at < size; at++) piece[at] = bytes[start + at] ?? 0;
  return piece;
}

import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import { ConnectionError } from "../connection.ts";
import type { Lease } from "../memory.ts";

type Decode = (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>;

/** Gzip is what is asked for; the others are what servers send unasked. */
const decoders: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ["gzip", promisify(gunzip)],
  ["x-gzip", promisify(gunzip)],
  ["deflate", promisify(inflate)],
  ["br", promisify(brotliDecompress)],
]);

/** What a body usually unfolds to, where it does not say, and at most. */
const USUAL_RATIO = 4;
const MAX_RATIO = 1_032;

/** Whether a body has to be unpacked before it can be read. An unknown coding cannot be. */
export function isPacked(encoding: string): boolean {
  return decoders.has(encoding);
}

/**
 * Unpacks a body on a thread of its own.
 * @param maxBytes - largest result accepted
 * @param lease - counts the memory of both
 * @throws ConnectionError `too-large`, `truncated`, `no-memory`
 */
export async function unpack(
  bytes: Uint8Array,
  encoding: string,
  maxBytes: number,
  lease: Lease,
): Promise<Uint8Array> {
  const decode = decoders.get(encoding);
  if (!decode) return bytes;
  if (bytes.length === 0) return bytes;
  reserve(lease, bytes.length + Math.min(maxBytes, expectedBytes(bytes, encoding)));
  let result: Uint8Array;
  try {
    result = await decode(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    const isTooLarge =
      error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    throw new ConnectionError(isTooLarge ? "too-large" : "truncated");
  }
  reserve(lease, bytes.length + result.length);
  return result;
}

/** @throws ConnectionError `no-memory` */
function reserve(lease: Lease, bytes: number): void {
  const isThere = bytes <= lease.bytes || lease.grow(bytes - lease.bytes);
  if (!isThere) throw new ConnectionError("no-memory");
}

/** Gzip ends with the length of what it holds (RFC 1952, section 2.3.1). */
function expectedBytes(bytes: Uint8Array, encoding: string): number {
  if (!encoding.endsWith("gzip") || bytes.length < 4) return USUAL_RATIO * bytes.length;
  const told = new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 4, 4).getUint32(
    0,
    true,
  );
  return Math.min(told, MAX_RATIO * bytes.length);
}

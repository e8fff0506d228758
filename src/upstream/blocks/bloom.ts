import { keccak256 } from "viem";

/** Bits of a block's logs bloom (Ethereum yellow paper, section 4.3.1). */
const BLOOM_BYTES = 256;
const BITS_PER_VALUE = 3;

/** Positions a value sets in a bloom: three of 2048. */
export type BloomBits = readonly number[];

/** The bits of an address or topic. @param hex - 0x hex of the value */
export function bloomBits(hex: string): BloomBits {
  const hash = keccak256(hex as `0x${string}`, "bytes");
  return Array.from({ length: BITS_PER_VALUE }, (_, index) => {
    const [high = 0, low = 0] = hash.subarray(2 * index);
    return ((high << 8) | low) & (8 * BLOOM_BYTES - 1);
  });
}

/** Whether all bits are set; false proves that no log of the block has the value. */
export function bloomHas(bloom: Uint8Array, bits: BloomBits): boolean {
  return bits.every((bit) => ((bloom[byteOf(bit)] ?? 0) & (1 << (bit & 7))) !== 0);
}

/** The bloom of a set of logs. */
export function bloomOf(
  logs: readonly { readonly address: string; readonly topics: readonly string[] }[],
): Uint8Array {
  const bloom = new Uint8Array(BLOOM_BYTES);
  const values = new Set(logs.flatMap(({ address, topics }) => [address, ...topics]));
  for (const value of values) {
    for (const bit of bloomBits(value)) {
      const at = byteOf(bit);
      bloom[at] = (bloom[at] ?? 0) | (1 << (bit & 7));
    }
  }
  return bloom;
}

/** Bit 0 is the lowest of the last byte. */
function byteOf(bit: number): number {
  return BLOOM_BYTES - 1 - (bit >> 3);
}

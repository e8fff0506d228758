/** 2³² divided by the golden ratio (Knuth, The Art of Computer Programming, 6.4). */
const MULTIPLIER = 0x9e37_79b1;
/** Differs from process to process, so that nobody can prepare texts that fall together. */
const SEED = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;

/**
 * A number that spreads texts evenly, the same for equal ones as long as the process runs.
 * @param from - first character that counts
 * @returns 32 bits, unsigned; its lower bits are as good as any
 */
export function hashOf(text: string, from = 0): number {
  let hash = SEED;
  for (let at = from; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), MULTIPLIER);
  }
  // A product's upper bits are the best mixed ones.
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** 2³² divided by the golden ratio (Knuth, The Art of Computer Programming, 6.4). */
const MULTIPLIER = 0x9e37_79b1 | 0;
/** Differs from process to process, so that nobody can prepare texts that fall together. */
const SEED = crypto.getRandomValues(new Int32Array(1))[0] ?? 0;

/**
 * A number that spreads texts evenly, the same for equal ones as long as the process runs.
 * @returns 31 bits, which the engine keeps as an integer; the lower ones are as good as any
 */
export function hashOf(text: string): number {
  let hash = SEED;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), MULTIPLIER);
  }
  // A product's upper bits are the best mixed ones.
  return (hash ^ (hash >>> 16)) & 0x7fff_ffff;
}

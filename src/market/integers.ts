/** Largest uint256. */
export const MAX_UINT256 = (1n << 256n) - 1n;

/** `numerator / denominator` rounded up, for operands that are not negative. */
export function divideUp(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator;
}

/** The integer square root: the largest `r` with `r * r <= value` (Newton's method). */
export function squareRoot(value: bigint): bigint {
  if (value < 2n) return value;
  let root = 1n << BigInt((value.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

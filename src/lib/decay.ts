const LN_2 = Math.LN2;
/** Up to this many half-lives the first terms of the series do, to seven digits. */
const SHORT = 1 / 64;

/**
 * What is left of 1 after a time in which half is lost per half-life. Most are asked for after a
 * small part of one, for which the series costs a fraction of the power.
 * @param elapsed - not negative; in the unit of `halfLife`
 */
export function remaining(elapsed: number, halfLife: number): number {
  const halvings = elapsed / halfLife;
  if (halvings > SHORT) return 2 ** -halvings;
  const x = halvings * LN_2;
  return 1 - x * (1 - (x / 2) * (1 - x / 3));
}

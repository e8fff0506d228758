/** An exact non-negative rational; the denominator is above 0. Not necessarily reduced. */
export interface Ratio {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

const SCALE = 10n ** 18n;

/** The product of two ratios. */
export function multiply(a: Ratio, b: Ratio): Ratio {
  return {
    numerator: a.numerator * b.numerator,
    denominator: a.denominator * b.denominator,
  };
}

/** A ratio as a float, exact to 1e-18; meant for ratios near 1. */
export function toNumber(ratio: Ratio): number {
  return Number((ratio.numerator * SCALE) / ratio.denominator) / 1e18;
}

import { formatDecimalAmount } from "../lib/amounts.ts";

/** A price in units of 1e-18 USD, so that sums and medians are exact. */
export type Usd = bigint;

const DIGITS = 18;

/**
 * Parses a feed's decimal text, also with an exponent; digits beyond 1e-18 are cut.
 * @throws RangeError when the text is not a finite, positive decimal of a sane size
 */
export function parseUsd(text: unknown): Usd {
  const match =
    typeof text === "string" && text.length <= 64
      ? /^([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,2}))?$/.exec(text)
      : null;
  if (!match) throw new RangeError("not a decimal price");
  const [, whole = "", fraction = "", exponent = "0"] = match;
  const shift = DIGITS + Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction);
  const price = shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift);
  if (price <= 0n) throw new RangeError("not a positive price");
  return price;
}

/** The nearest double, for the answer's JSON number. */
export function usdToNumber(price: Usd): number {
  return Number(formatDecimalAmount(price, DIGITS));
}

/**
 * The middle price; for an even count the mean of the two in the middle.
 * @param prices - at least one
 */
export function medianUsd(prices: readonly Usd[]): Usd {
  const sorted = [...prices].sort((a, b) => (a < b ? -1 : Number(a > b)));
  const upper = sorted[sorted.length >> 1];
  const lower = sorted[(sorted.length - 1) >> 1];
  if (upper === undefined || lower === undefined) throw new RangeError("no prices");
  return (lower + upper) / 2n;
}

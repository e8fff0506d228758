const MAX_UINT256 = (1n << 256n) - 1n;

/**
 * Parses an atomic amount: decimal digits only, above 0 and below 2^256.
 * @returns the amount, or undefined when the text is not one
 */
export function parseAtomicAmount(text: string): bigint | undefined {
  if (text.length > 78 || !/^[0-9]+$/.test(text)) return undefined;
  const amount = BigInt(text);
  return amount > 0n && amount <= MAX_UINT256 ? amount : undefined;
}

/**
 * Parses a human decimal amount, such as `10.00`, into atomic units.
 * No sign, exponent, leading zero or empty fraction; above 0 and below 2^256.
 * @param decimals - most fractional digits allowed
 * @returns atomic units, or undefined when the text is not such an amount
 */
export function parseDecimalAmount(text: string, decimals: number): bigint | undefined {
  const match = /^(0|[1-9][0-9]{0,77})(?:\.([0-9]+))?$/.exec(text);
  if (!match) return undefined;
  const [, whole = "", fraction = ""] = match;
  if (fraction.length > decimals) return undefined;
  const amount = BigInt(whole + fraction.padEnd(decimals, "0"));
  return amount > 0n && amount <= MAX_UINT256 ? amount : undefined;
}

/**
 * Writes atomic units as a decimal string with all fractional digits.
 * @example formatDecimalAmount(1_500_000n, 6) // "1.500000"
 */
export function formatDecimalAmount(amountAtomic: bigint, decimals: number): string {
  if (decimals === 0) return amountAtomic.toString();
  const digits = amountAtomic.toString().padStart(decimals + 1, "0");
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const VALUES = new Map([...ALPHABET].map((character, value) => [character, BigInt(value)]));

/** Longest text that is decoded: decoding takes time in proportion to its square. */
const MAX_CHARACTERS = 2_048;

/**
 * Decodes base58 with Bitcoin's alphabet, which Solana uses for addresses and transactions.
 * @param text - at most 2,048 characters
 * @returns the bytes, or undefined when the text is not base58
 */
export function decodeBase58(text: string): Uint8Array | undefined {
  if (text.length === 0 || text.length > MAX_CHARACTERS) return undefined;
  let number = 0n;
  for (const character of text) {
    const value = VALUES.get(character);
    if (value === undefined) return undefined;
    number = number * 58n + value;
  }
  let leadingZeros = 0;
  while (text[leadingZeros] === "1") leadingZeros++;
  let hex = number === 0n ? "" : number.toString(16);
  if (hex.length % 2 === 1) hex = `0${hex}`;
  const bytes = new Uint8Array(leadingZeros + hex.length / 2);
  for (let i = 0; i < hex.length; i += 2) {
    bytes[leadingZeros + i / 2] = Number.parseInt(hex.slice(i, i + 2), 16);
  }
  return bytes;
}

/** Writes bytes in base58. */
export function encodeBase58(bytes: Uint8Array): string {
  let number = 0n;
  for (const byte of bytes) number = number * 256n + BigInt(byte);
  let text = "";
  for (; number > 0n; number /= 58n) text = ALPHABET.charAt(Number(number % 58n)) + text;
  const firstNonZero = bytes.findIndex((byte) => byte !== 0);
  return "1".repeat(firstNonZero === -1 ? bytes.length : firstNonZero) + text;
}

/** Whether a text is a Solana address: base58 of exactly 32 bytes. */
export function isSolanaAddress(text: string): boolean {
  return text.length >= 32 && text.length <= 44 && decodeBase58(text)?.length === 32;
}

import { randomBytes } from "node:crypto";

/** `live` keys may move mainnet funds; `test` keys never do. */
export type KeyEnvironment = "live" | "test";

/**
 * `sk_<environment>_` + 160 random bits + CRC-32 of everything before it, in lower-case hex.
 * The checksum tells a mistyped key, or a scanner's false hit, from a real one without a look-up.
 */
const KEY_PATTERN = /^sk_(live|test)_[0-9a-f]{48}$/;
/** Characters of every key. */
export const KEY_LENGTH = 56;
const CHECKSUM_DIGITS = 8;
const RANDOM_BYTES = 20;

/** Makes a new secret key. */
export function generateKey(environment: KeyEnvironment): string {
  const body = `sk_${environment}_${randomBytes(RANDOM_BYTES).toString("hex")}`;
  return body + checksum(body);
}

/**
 * Reads a presented key without looking it up.
 * @returns its environment, or undefined when the text cannot be a key this service made
 */
export function parseKey(text: string): { environment: KeyEnvironment } | undefined {
  if (text.length !== KEY_LENGTH) return undefined;
  const environment = KEY_PATTERN.exec(text)?.[1];
  if (environment !== "live" && environment !== "test") return undefined;
  const body = text.slice(0, -CHECKSUM_DIGITS);
  return checksum(body) === text.slice(-CHECKSUM_DIGITS) ? { environment } : undefined;
}

/**
 * The form a key is stored and looked up in: HMAC-SHA-256, hex. A key has 160 random bits, so a
 * fast hash is enough; the pepper keeps a stolen database from even testing guesses.
 */
export function hashKey(key: string, pepper: Uint8Array): string {
  return new Bun.CryptoHasher("sha256", pepper).update(key).digest("hex");
}

function checksum(body: string): string {
  return Bun.hash.crc32(body).toString(16).padStart(CHECKSUM_DIGITS, "0");
}

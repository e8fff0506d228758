import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { generateKey, hashKey, parseKey } from "../../src/access/key.ts";

describe("key format", () => {
  test("a generated key has its environment, 160 random bits and a checksum, all hex", () => {
    for (const environment of ["live", "test"] as const) {
      const key = generateKey(environment);
      expect(key).toMatch(new RegExp(`^sk_${environment}_[0-9a-f]{48}$`));
      expect(parseKey(key)).toEqual({ environment });
    }
  });

  test("keys do not repeat", () => {
    const keys = new Set(Array.from({ length: 10_000 }, () => generateKey("live")));
    expect(keys.size).toBe(10_000);
  });

  test("any single wrong character is noticed without a look-up", () => {
    const key = generateKey("live");
    const position = fc.integer({ min: 0, max: key.length - 1 });
    const character = fc.constantFrom(..."0123456789abcdefABCDEFghklnstv_-. ");
    fc.assert(
      fc.property(position, character, (at, wrong) => {
        fc.pre(key[at] !== wrong);
        expect(parseKey(key.slice(0, at) + wrong + key.slice(at + 1))).toBeUndefined();
      }),
      { seed: 1, numRuns: 2_000 },
    );
  });

  test("two neighbours typed in the wrong order are noticed", () => {
    const key = generateKey("test");
    for (let at = 8; at < key.length - 1; at++) {
      if (key[at] === key[at + 1]) continue;
      const swapped = key.slice(0, at) + key[at + 1] + key[at] + key.slice(at + 2);
      expect(parseKey(swapped)).toBeUndefined();
    }
  });

  test("the checksum covers the environment: a test key cannot be renamed to live", () => {
    expect(parseKey(generateKey("test").replace("sk_test_", "sk_live_"))).toBeUndefined();
  });

  test("any other text is not a key", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        expect(parseKey(text)).toBeUndefined();
        expect(parseKey(`sk_live_${text}`)).toBeUndefined();
      }),
      { seed: 2, numRuns: 1_000 },
    );
    for (const text of ["", `${generateKey("live")}\n`, generateKey("live").toUpperCase()]) {
      expect(parseKey(text)).toBeUndefined();
    }
  });
});

test("the stored hash depends on the key and on the pepper", () => {
  const [key, other] = [generateKey("live"), generateKey("live")];
  const pepper = new Uint8Array(32).fill(1);
  expect(hashKey(key, pepper)).toMatch(/^[0-9a-f]{64}$/);
  expect(hashKey(key, pepper)).toBe(hashKey(key, pepper));
  expect(hashKey(other, pepper)).not.toBe(hashKey(key, pepper));
  expect(hashKey(key, new Uint8Array(32))).not.toBe(hashKey(key, pepper));
});

import { expect, test } from "bun:test";
import { getBase58Decoder, getBase58Encoder } from "@solana/kit";
import fc from "fast-check";
import { decodeBase58, encodeBase58, isSolanaAddress } from "../../src/lib/base58.ts";

test("any bytes are written and read as by an independent implementation", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const text = encodeBase58(bytes);
      expect(text).toBe(getBase58Decoder().decode(bytes));
      if (bytes.length > 0) {
        expect(decodeBase58(text)).toEqual(bytes);
        expect(Uint8Array.from(getBase58Encoder().encode(text))).toEqual(bytes);
      }
    }),
    { seed: 1, numRuns: 300 },
  );
});

test("text that is not base58, or longer than any transaction, is refused", () => {
  for (const text of ["", "0", "O", "I", "l", "+", " 1", "1".repeat(2_049)]) {
    expect(decodeBase58(text)).toBeUndefined();
  }
});

test("an address is 32 bytes", () => {
  expect(isSolanaAddress("11111111111111111111111111111111")).toBe(true);
  expect(isSolanaAddress("1111111111111111111111111111111")).toBe(false);
  expect(isSolanaAddress("4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU")).toBe(true);
});

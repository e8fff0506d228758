import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  formatDecimalAmount,
  parseAtomicAmount,
  parseDecimalAmount,
} from "../../src/lib/amounts.ts";

describe("parseAtomicAmount", () => {
  test("takes decimal digits above 0 and below 2^256", () => {
    expect(parseAtomicAmount("1")).toBe(1n);
    expect(parseAtomicAmount((2n ** 256n - 1n).toString())).toBe(2n ** 256n - 1n);
  });

  test.each(["0", "00", "-1", "+1", "1.0", "1e3", "0x10", "", " 1", "1 ", "١", "1_000"])(
    "refuses %p",
    (text) => expect(parseAtomicAmount(text)).toBeUndefined(),
  );

  test("refuses 2^256 and absurdly long digits", () => {
    expect(parseAtomicAmount((2n ** 256n).toString())).toBeUndefined();
    expect(parseAtomicAmount("9".repeat(100_000))).toBeUndefined();
  });
});

describe("parseDecimalAmount", () => {
  test.each([
    ["10.00", 10_000_000n],
    ["0.000001", 1n],
    ["7", 7_000_000n],
  ])("reads %p", (text, expected) => expect(parseDecimalAmount(text, 6)).toBe(expected));

  test.each(["0", "0.0", "-1", "1e3", "1.0000001", "01.0", "1.", ".5", "9".repeat(80), "1,0", ""])(
    "refuses %p",
    (text) => expect(parseDecimalAmount(text, 6)).toBeUndefined(),
  );

  test("is undone by formatDecimalAmount", () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 2n ** 200n }),
        fc.integer({ min: 0, max: 24 }),
        (amount, decimals) =>
          parseDecimalAmount(formatDecimalAmount(amount, decimals), decimals) === amount,
      ),
      { seed: 7 },
    );
  });
});

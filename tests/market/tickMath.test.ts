import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  MAX_SQRT_PRICE,
  MAX_TICK,
  MIN_SQRT_PRICE,
  MIN_TICK,
  sqrtPriceAtTick,
  tickAtSqrtPrice,
} from "../../src/market/tickMath.ts";

const tick = fc.integer({ min: MIN_TICK, max: MAX_TICK - 1 });

describe("tick math", () => {
  test("has v3-core's bounds of the price", () => {
    expect(MIN_SQRT_PRICE).toBe(4_295_128_739n);
    expect(MAX_SQRT_PRICE).toBe(1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_342n);
    expect(sqrtPriceAtTick(0)).toBe(1n << 96n);
  });

  test("agrees with the real power to 8 digits", () => {
    fc.assert(
      fc.property(fc.integer({ min: -200_000, max: 200_000 }), (each) => {
        const price = Number(sqrtPriceAtTick(each)) / 2 ** 96;
        expect(price / 1.0001 ** (each / 2)).toBeCloseTo(1, 8);
      }),
      { seed: 1 },
    );
  });

  test("grows strictly with the tick", () => {
    fc.assert(
      fc.property(tick, (each) => {
        expect(sqrtPriceAtTick(each + 1)).toBeGreaterThan(sqrtPriceAtTick(each));
      }),
      { seed: 2, numRuns: 2_000 },
    );
  });

  test("finds the tick of a price, on and beside every edge", () => {
    fc.assert(
      fc.property(tick, (each) => {
        const price = sqrtPriceAtTick(each);
        expect(tickAtSqrtPrice(price)).toBe(each);
        if (each > MIN_TICK) expect(tickAtSqrtPrice(price - 1n)).toBe(each - 1);
        expect(tickAtSqrtPrice(sqrtPriceAtTick(each + 1) - 1n)).toBe(each);
      }),
      { seed: 3, numRuns: 5_000 },
    );
  });

  test("refuses ticks and prices out of range", () => {
    for (const bad of [MIN_TICK - 1, MAX_TICK + 1, 0.5, Number.NaN]) {
      expect(() => sqrtPriceAtTick(bad)).toThrow(RangeError);
    }
    expect(() => tickAtSqrtPrice(MIN_SQRT_PRICE - 1n)).toThrow(RangeError);
    expect(() => tickAtSqrtPrice(MAX_SQRT_PRICE)).toThrow(RangeError);
  });
});

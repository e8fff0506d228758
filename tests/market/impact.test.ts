import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  afterFeePips,
  priceImpactPercent,
  toFeeBps,
  v2AmountOut,
  v2SpotPrice,
} from "../../src/market/index.ts";

describe("price impact", () => {
  test("impact and fee multiply back to the spot price, to 1e-9", () => {
    const reserve = fc.bigInt({ min: 10n ** 15n, max: 10n ** 27n });
    const amount = fc.bigInt({ min: 10n ** 13n, max: 10n ** 27n });
    const feePips = fc.integer({ min: 0, max: 100_000 });
    fc.assert(
      fc.property(reserve, reserve, amount, feePips, (reserveIn, reserveOut, amountIn, fee) => {
        const kept = afterFeePips(fee);
        const pair = { reserveIn, reserveOut, kept };
        const out = v2AmountOut(pair, amountIn);
        if (out === undefined) return;
        const impact = priceImpactPercent(amountIn, out, v2SpotPrice(pair), kept);
        const share = (1 - impact / 100) * (1 - toFeeBps(1 - fee / 1e6) / 10_000);
        const actual = Number((out * reserveIn * 10n ** 18n) / (amountIn * reserveOut)) / 1e18;
        expect(Math.abs(share - actual)).toBeLessThan(1e-9);
      }),
      { seed: 1, numRuns: 1_000 },
    );
  });

  test("fees compound, they do not add up", () => {
    expect(toFeeBps(0.997)).toBe(30);
    expect(toFeeBps(1 - 25e-6)).toBe(0.25);
    expect(toFeeBps(0.997 * 0.997)).toBe(59.91);
    expect(toFeeBps(0.997 * 0.999)).toBe(39.97);
  });

  test("is 0 where nothing but the fee is lost, and near 100 where all is", () => {
    const spot = { numerator: 2n, denominator: 1n };
    expect(priceImpactPercent(1_000_000n, 1_994_000n, spot, afterFeePips(3_000))).toBe(0);
    expect(priceImpactPercent(10n ** 18n, 1n, spot, afterFeePips(0))).toBeCloseTo(100, 9);
  });
});

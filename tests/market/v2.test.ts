import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { afterFeePips, v2AmountIn, v2AmountOut } from "../../src/market/index.ts";

const MAX_RESERVE = (1n << 112n) - 1n;
const reserve = fc.bigInt({ min: 1_000n, max: 1n << 100n });
const amount = fc.bigInt({ min: 1n, max: 1n << 100n });
const feeBps = fc.integer({ min: 0, max: 1_000 });

const pair = fc.record({
  reserveIn: reserve,
  reserveOut: reserve,
  kept: feeBps.map((bps) => afterFeePips(100 * bps)),
});

describe("v2 pair", () => {
  test("gives what the router's formula with 997/1000 gives", () => {
    const pool = {
      reserveIn: 5n * 10n ** 12n,
      reserveOut: 3n * 10n ** 20n,
      kept: afterFeePips(3_000),
    };
    const withFee = 1_234_567n * 997n;
    const expected = (withFee * pool.reserveOut) / (pool.reserveIn * 1000n + withFee);
    expect(v2AmountOut(pool, 1_234_567n)).toBe(expected);
  });

  test("never lets the product of the reserves, fee excluded, fall", () => {
    fc.assert(
      fc.property(pair, amount, (pool, amountIn) => {
        const out = v2AmountOut(pool, amountIn) ?? 0n;
        const { numerator, denominator } = pool.kept;
        const before = pool.reserveIn * denominator * pool.reserveOut;
        const after =
          (pool.reserveIn * denominator + amountIn * numerator) * (pool.reserveOut - out);
        expect(after).toBeGreaterThanOrEqual(before);
      }),
      { seed: 1, numRuns: 1_000 },
    );
  });

  test("gives one unit more only at the cost of the product", () => {
    fc.assert(
      fc.property(pair, amount, (pool, amountIn) => {
        const out = (v2AmountOut(pool, amountIn) ?? 0n) + 1n;
        const { numerator, denominator } = pool.kept;
        const before = pool.reserveIn * denominator * pool.reserveOut;
        const after =
          (pool.reserveIn * denominator + amountIn * numerator) * (pool.reserveOut - out);
        expect(after).toBeLessThan(before);
      }),
      { seed: 2, numRuns: 1_000 },
    );
  });

  test("v2AmountIn is an input that buys at least the output asked for", () => {
    fc.assert(
      fc.property(pair, amount, (pool, amountOut) => {
        const amountIn = v2AmountIn(pool, amountOut);
        if (amountIn === undefined) return;
        expect(v2AmountOut(pool, amountIn) ?? 0n).toBeGreaterThanOrEqual(amountOut);
        // The contract's formula adds 1 even to exact divisions: at most one unit too much.
        if (amountIn > 2n) {
          expect(v2AmountOut(pool, amountIn - 2n) ?? 0n).toBeLessThan(amountOut);
        }
      }),
      { seed: 3, numRuns: 1_000 },
    );
  });

  test("refuses what the pair cannot do", () => {
    const pool = { reserveIn: 1_000n, reserveOut: 1_000n, kept: afterFeePips(3_000) };
    expect(v2AmountIn(pool, 1_000n)).toBeUndefined();
    expect(v2AmountOut(pool, 0n)).toBeUndefined();
    expect(v2AmountOut({ ...pool, reserveOut: 0n }, 5n)).toBeUndefined();
    expect(v2AmountOut({ ...pool, reserveIn: 10n ** 9n }, 5n)).toBeUndefined();
    expect(v2AmountOut(pool, MAX_RESERVE - 1_000n)).toBe(999n);
    expect(v2AmountOut(pool, MAX_RESERVE - 999n)).toBeUndefined();
  });
});

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type V3Pool, v3SwapExactIn } from "../../src/market/index.ts";
import { sqrtPriceAfterToken0In } from "../../src/market/sqrtPriceMath.ts";
import { sqrtPriceAtTick, tickAtSqrtPrice } from "../../src/market/tickMath.ts";

/** A pool of positions around tick 0. */
function poolOf(
  positions: { lower: number; upper: number; liquidity: bigint }[],
  { feePips = 3_000, tickSpacing = 60, tick = 0 } = {},
): V3Pool {
  const net = new Map<number, bigint>();
  let liquidity = 0n;
  for (const position of positions) {
    net.set(position.lower, (net.get(position.lower) ?? 0n) + position.liquidity);
    net.set(position.upper, (net.get(position.upper) ?? 0n) - position.liquidity);
    if (position.lower <= tick && tick < position.upper) liquidity += position.liquidity;
  }
  const ticks = [...net]
    .map(([index, liquidityNet]) => ({
      index,
      liquidityNet,
      sqrtPriceX96: sqrtPriceAtTick(index),
    }))
    .sort((a, b) => a.index - b.index);
  return { sqrtPriceX96: sqrtPriceAtTick(tick), tick, liquidity, feePips, tickSpacing, ticks };
}

const positions = fc.array(
  fc
    .record({
      lower: fc.integer({ min: -400, max: 300 }),
      width: fc.integer({ min: 1, max: 200 }),
      liquidity: fc.bigInt({ min: 1n, max: 1n << 90n }),
    })
    .map(({ lower, width, liquidity }) => ({
      lower: lower * 60,
      upper: (lower + width) * 60,
      liquidity,
    })),
  { minLength: 1, maxLength: 12 },
);
const amountIn = fc.bigInt({ min: 1n, max: 1n << 100n });

describe("v3 swap", () => {
  test("takes the input in full or says that it did not", () => {
    fc.assert(
      fc.property(positions, amountIn, fc.boolean(), (list, amount, zeroForOne) => {
        const swap = v3SwapExactIn(poolOf(list), zeroForOne, amount);
        expect(swap.amountIn <= amount).toBe(true);
        expect(swap.amountIn === amount).toBe(swap.end === "complete");
      }),
      { seed: 1, numRuns: 500 },
    );
  });

  test("never pays more for two swaps than for one of the same input", () => {
    fc.assert(
      fc.property(positions, amountIn, fc.boolean(), (list, amount, zeroForOne) => {
        const pool = poolOf(list);
        const whole = v3SwapExactIn(pool, zeroForOne, amount + 1n);
        if (whole.end !== "complete") return;
        const first = v3SwapExactIn(pool, zeroForOne, amount / 2n + 1n);
        const rest = amount + 1n - (amount / 2n + 1n);
        if (rest === 0n) return;
        const second = v3SwapExactIn({ ...pool, ...first }, zeroForOne, rest);
        expect(first.amountOut + second.amountOut <= whole.amountOut + 1n).toBe(true);
      }),
      { seed: 2, numRuns: 500 },
    );
  });

  test("swapping there and back never makes money", () => {
    fc.assert(
      fc.property(positions, amountIn, fc.boolean(), (list, amount, zeroForOne) => {
        const pool = poolOf(list);
        const there = v3SwapExactIn(pool, zeroForOne, amount);
        if (there.amountOut === 0n) return;
        const back = v3SwapExactIn({ ...pool, ...there }, !zeroForOne, there.amountOut);
        expect(back.amountOut <= there.amountIn).toBe(true);
      }),
      { seed: 3, numRuns: 500 },
    );
  });

  test("keeps tick and price together", () => {
    fc.assert(
      fc.property(positions, amountIn, fc.boolean(), (list, amount, zeroForOne) => {
        const swap = v3SwapExactIn(poolOf(list), zeroForOne, amount);
        if (swap.end === "liquidity") return;
        const tick = tickAtSqrtPrice(swap.sqrtPriceX96);
        // After a downward crossing the tick is one below that of the price.
        const isOnEdge = swap.sqrtPriceX96 === sqrtPriceAtTick(tick);
        expect(swap.tick === tick || (isOnEdge && swap.tick === tick - 1)).toBe(true);
      }),
      { seed: 4, numRuns: 500 },
    );
  });

  test("bounds its work on thin liquidity", () => {
    const thin = poolOf([{ lower: -60_000, upper: 60_000, liquidity: 1n }], { tickSpacing: 1 });
    const swap = v3SwapExactIn(thin, true, 1n << 200n, 50);
    expect(swap.end).toBe("steps");
    expect(swap.emptyWords + swap.ticksCrossed).toBe(50);
  });

  test("gives the same whether stops are remembered or walked to, also exactly at a stop", () => {
    fc.assert(
      fc.property(positions, amountIn, fc.boolean(), fc.nat(150), (list, amount, down, steps) => {
        const pool = poolOf(list);
        const stop = v3SwapExactIn({ ...pool }, down, amount, steps).amountIn;
        for (const each of [amount, stop - 1n, stop, stop + 1n]) {
          if (each <= 0n) continue;
          // A copy has nothing remembered.
          expect(v3SwapExactIn(pool, down, each)).toEqual(v3SwapExactIn({ ...pool }, down, each));
        }
      }),
      { seed: 5, numRuns: 500 },
    );
  });

  test("stops at every bitmap word boundary, which rounds", () => {
    const pool = poolOf([{ lower: -60_000, upper: 60_000, liquidity: 4_787_383n }], {
      tickSpacing: 1,
      feePips: 100,
    });
    const swap = v3SwapExactIn(pool, true, 2_000_000n);
    expect(swap.end).toBe("complete");
    expect(swap.emptyWords).toBeGreaterThan(10);
  });

  test("refuses inputs the pool's int256 cannot hold", () => {
    const pool = poolOf([{ lower: -60, upper: 60, liquidity: 1_000n }]);
    expect(() => v3SwapExactIn(pool, true, 0n)).toThrow(RangeError);
    expect(() => v3SwapExactIn(pool, true, 1n << 255n)).toThrow(RangeError);
    expect(v3SwapExactIn(pool, true, (1n << 255n) - 1n).end).toBe("liquidity");
  });

  test("takes the contract's other formula where its 256-bit product overflows", () => {
    // price 2^128, so that amount · price exceeds 256 bits
    const price = 1n << 128n;
    const liquidity = 1n << 40n;
    const amount = 1n << 130n;
    const fallback = (liquidity << 96n) / price + amount;
    const expected = ((liquidity << 96n) + fallback - 1n) / fallback;
    expect(sqrtPriceAfterToken0In(price, liquidity, amount)).toBe(expected);
  });
});

import type { Address } from "viem";
import type { MarketPool } from "../../../src/market/index.ts";
import { floatSqrtPriceAt } from "./networks.ts";

/**
 * An optimiser for tests that shares nothing with the planner: pools as real functions of their
 * price, the split found by bisection on the common marginal price, series by golden section.
 */

/** A pool as a real function: what it takes and pays until its marginal price has fallen. */
export interface RealPool {
  /** What one first unit of input pays, fee included; 0 where nothing trades. */
  readonly spot: number;
  /** Input and output until one more unit of input pays `price`, fee included. */
  until(price: number): { input: number; output: number };
  /** What one more unit pays after an input. */
  priceAfter(input: number): number;
  /** Output for an input; NaN where the pool cannot take it. */
  pay(input: number): number;
}

interface Range {
  readonly liquidity: number;
  /** Sqrt price of the input in output, falling. */
  readonly from: number;
  readonly to: number;
}

export function realPool(pool: MarketPool, tokenIn: Address): RealPool {
  const kept = 1 - pool.feePips / 1e6;
  const zeroForOne = pool.token0 === tokenIn;
  return pool.kind === "v2" ? pairFunction() : rangesFunction(rangesOf());

  function pairFunction(): RealPool {
    if (pool.kind !== "v2") throw new TypeError("a pair");
    const [reserveIn, reserveOut] = zeroForOne
      ? [Number(pool.reserve0), Number(pool.reserve1)]
      : [Number(pool.reserve1), Number(pool.reserve0)];
    const pay = (input: number) => (kept * input * reserveOut) / (reserveIn + kept * input);
    return {
      spot: (kept * reserveOut) / reserveIn,
      pay,
      priceAfter: (input) => (kept * reserveIn * reserveOut) / (reserveIn + kept * input) ** 2,
      until(price) {
        const root = Math.sqrt((kept * reserveIn * reserveOut) / price);
        const input = Math.max(0, (root - reserveIn) / kept);
        return { input, output: pay(input) };
      },
    };
  }

  function rangesOf(): Range[] {
    if (pool.kind !== "v3") throw new TypeError("a v3 pool");
    const { ticks, tick, sqrtPriceX96 } = pool;
    const ranges: Range[] = [];
    let liquidity = Number(pool.liquidity);
    let at = Number(sqrtPriceX96) / 2 ** 96;
    const ahead = zeroForOne
      ? ticks.filter(({ index }) => index <= tick).reverse()
      : ticks.filter(({ index }) => index > tick);
    for (const { index, liquidityNet } of ahead) {
      const next = floatSqrtPriceAt(index);
      // Seen from the trader, the price of what is sold falls in either direction.
      ranges.push(
        zeroForOne ? { liquidity, from: at, to: next } : { liquidity, from: 1 / at, to: 1 / next },
      );
      liquidity += (zeroForOne ? -1 : 1) * Number(liquidityNet);
      at = next;
    }
    return ranges;
  }

  function rangesFunction(ranges: readonly Range[]): RealPool {
    const between = ({ liquidity }: Range, from: number, to: number) => ({
      input: (liquidity * (1 / to - 1 / from)) / kept,
      output: liquidity * (from - to),
    });
    return {
      spot: (ranges.find(({ liquidity }) => liquidity > 0)?.from ?? 0) ** 2 * kept,
      until(price) {
        const target = Math.sqrt(price / kept);
        let [input, output] = [0, 0];
        for (const range of ranges) {
          if (range.from <= target) break;
          const part = between(range, range.from, Math.max(range.to, target));
          input += part.input;
          output += part.output;
        }
        return { input, output };
      },
      priceAfter(wanted) {
        let input = 0;
        for (const range of ranges) {
          const whole = between(range, range.from, range.to);
          if (input + whole.input > wanted) {
            const left = (wanted - input) * kept;
            return kept / (1 / range.from + left / range.liquidity) ** 2;
          }
          input += whole.input;
        }
        return 0;
      },
      pay(wanted) {
        let [input, output] = [0, 0];
        for (const range of ranges) {
          const whole = between(range, range.from, range.to);
          if (input + whole.input >= wanted) {
            const left = (wanted - input) * kept;
            const to = 1 / (1 / range.from + left / range.liquidity);
            return output + range.liquidity * (range.from - to);
          }
          input += whole.input;
          output += whole.output;
        }
        return wanted <= input ? output : Number.NaN;
      },
    };
  }
}

/** What a search is told of an input beyond what pools take: the more, the worse. */
const FORBIDDEN = -1e60;

/**
 * The most that pools side by side pay for an input; below 0 where they cannot take it, or where
 * the input is below 0 for that reason.
 */
export function bestParallel(pools: readonly RealPool[], amountIn: number): number {
  if (amountIn <= 0) return amountIn < 0 ? amountIn + FORBIDDEN : 0;
  const taken = (price: number) => pools.reduce((sum, pool) => sum + pool.until(price).input, 0);
  let [low, high] = [1e-60, 1e60];
  if (taken(low) < amountIn) return FORBIDDEN * (1 - taken(low) / amountIn);
  for (let round = 0; round < 140; round += 1) {
    const middle = Math.sqrt(low * high);
    if (taken(middle) >= amountIn) low = middle;
    else high = middle;
  }
  let [input, output] = [0, 0];
  for (const pool of pools) {
    const part = pool.until(high);
    input += part.input;
    output += part.output;
  }
  // Between the two prices nothing is left but a rest too small to be told from rounding.
  return output + Math.max(0, amountIn - input) * low;
}

const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** The greatest value of a concave function on [0, 1]. */
export function maximise(value: (share: number) => number, rounds: number): number {
  let [low, high] = [0, 1];
  let [a, b] = [1 - GOLDEN, GOLDEN];
  let [atA, atB] = [value(a), value(b)];
  let best = Math.max(value(0), value(1), atA, atB);
  for (let round = 0; round < rounds; round += 1) {
    if (atA >= atB) {
      [high, b, atB] = [b, a, atA];
      a = high - GOLDEN * (high - low);
      atA = value(a);
    } else {
      [low, a, atA] = [a, b, atB];
      b = low + GOLDEN * (high - low);
      atB = value(b);
    }
    best = Math.max(best, atA, atB);
  }
  return best;
}

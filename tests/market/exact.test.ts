import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { seededRandom } from "../../src/lib/clock.ts";
import {
  isAtPriceLimit,
  type MarketPool,
  v2AmountOut,
  v2PairOf,
  v3SwapExactIn,
} from "../../src/market/index.ts";
import { type PreparedChain, startPreparedChain } from "../support/sandbox.ts";
import { localMarket, type LocalMarket } from "./localMarket.ts";
import { type Case, quoteOnChain } from "./oracle.ts";
import { Trader } from "./trader.ts";

const ROUNDS = 5;
const CASES_PER_ROUND = 2_000;
const CASES_PER_CALL = 100;
const BLOCKS_PER_ROUND = 30;

const random = seededRandom(20_260_402);
let chain: PreparedChain;
let local: LocalMarket;
let trader: Trader;

beforeAll(async () => {
  chain = await startPreparedChain();
  trader = await Trader.create(chain, random);
  await trader.createThinPools();
  local = localMarket(chain);
});
afterAll(async () => {
  await local.market.stop();
  await chain.stop();
});

/**
 * Amounts spread evenly over the orders of magnitude up to somewhat more than the pool holds, and
 * in one case of eight up to 10^40, so that pools run dry.
 */
function randomCase(pools: readonly MarketPool[]): Case {
  const pool = pools[Math.floor(random() * pools.length)]!;
  const depth = pool.kind === "v2" ? pool.reserve0 : pool.liquidity;
  const digits = random() < 0.125 ? 40 : Math.min(40, depth.toString().length);
  const scale = 10n ** BigInt(Math.floor(random() * digits));
  const amountIn = (scale * BigInt(1_000 + Math.floor(random() * 9_000))) / 1_000n;
  return { pool, zeroForOne: random() < 0.5, amountIn };
}

/** Checks one case. @returns how it ended */
function compare(
  { pool, zeroForOne, amountIn }: Case,
  quote: Awaited<ReturnType<typeof quoteOnChain>>[number],
) {
  if (pool.kind === "v2") {
    const amountOut = v2AmountOut(v2PairOf(pool, zeroForOne), amountIn);
    // The router gives outputs of 0, and for inputs the pair cannot hold; no swap would pass.
    if (amountOut === undefined) return "refused";
    expect(amountOut).toBe(quote!.amountOut);
    return "complete";
  }
  const swap = v3SwapExactIn(pool, zeroForOne, amountIn, 20_000);
  expect(swap.amountOut).toBe(quote!.amountOut);
  expect(swap.sqrtPriceX96).toBe(quote!.sqrtPriceX96!);
  // What the quoter shows as a full fill at the end of the range is told apart.
  expect(swap.end === "liquidity").toBe(isAtPriceLimit(quote!.sqrtPriceX96!, zeroForOne));
  expect(swap.amountIn === amountIn).toBe(swap.end === "complete");
  return swap.end;
}

describe("quotes from memory", () => {
  test(`${ROUNDS * CASES_PER_ROUND} random cases equal the venues' contracts to the last bit`, async () => {
    const ends = { complete: 0, liquidity: 0, steps: 0, refused: 0 };
    const pools = new Set<string>();
    const spacings = new Set<number>();
    for (let round = 0; round < ROUNDS; round++) {
      // The state is loaded once; later rounds see what was folded from logs.
      const snapshot = await local.market.snapshot(5042, { maxAgeMs: 0 });
      expect(snapshot.isComplete).toBe(true);
      for (let done = 0; done < CASES_PER_ROUND; done += CASES_PER_CALL) {
        const cases = Array.from({ length: CASES_PER_CALL }, () => randomCase(snapshot.pools));
        const quotes = await quoteOnChain(chain, cases, snapshot.blockNumber);
        for (const [index, each] of cases.entries()) {
          ends[compare(each, quotes[index])] += 1;
          pools.add(each.pool.address);
          if (each.pool.kind === "v3") spacings.add(each.pool.tickSpacing);
        }
      }
      for (let i = 0; i < BLOCKS_PER_ROUND; i++) await trader.randomBlock(snapshot.pools);
    }
    expect(pools.size).toBeGreaterThanOrEqual(29);
    expect([...spacings].sort((a, b) => a - b)).toEqual([1, 10, 60, 200]);
    expect(ends.steps).toBe(0);
    expect(ends.complete).toBeGreaterThan(5_000);
    expect(ends.liquidity).toBeGreaterThan(300);
  }, 120_000);
});

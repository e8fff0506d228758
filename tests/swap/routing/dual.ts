import type { Address } from "viem";
import type { MarketPool } from "../../../src/market/index.ts";
import type { HopOrder, Trade } from "../../../src/swap/routing/index.ts";
import { type RealPool, realPool } from "./optimiser.ts";

/**
 * Upper bounds of what any split over ways of up to three pools can pay, by weak duality: with a
 * price for every token, each pool on its own earns at most its best trade at these prices, and no
 * arrangement of flows can be worth more than all of them together. The bound of the best prices is
 * the continuous optimum. Shares nothing with the planner.
 *
 * A connector has two prices: what it is worth after one pool, when it may still go to another
 * connector, and after two, when it may not.
 */

interface Arc {
  readonly pool: Pick<RealPool, "until" | "spot">;
  readonly from: number;
  readonly to: number;
}

/** Sweeps over all prices before a bound is taken for what it is. */
const MAX_SWEEPS = 400;
/** What a price changes by at most in one sweep: the others have to follow. */
const MAX_STRIDE = 4;
/** Halvings of the interval a price is looked for in. */
const HALVINGS = 60;
/** More of a token than there is. */
const UNLIMITED = 1e60;

/** What may go on to another connector may also stay: one to one, without limit. */
const staying: Arc["pool"] = {
  spot: 1,
  until: (price) => (price < 1 ? { input: UNLIMITED, output: UNLIMITED } : { input: 0, output: 0 }),
};

/**
 * The lowest upper bound that can be found, or the first that is low enough.
 * @param near - a plan whose marginal prices are taken to start from
 * @param enough - a bound below this proves what is to be proved
 */
export function upperBound(
  pools: readonly MarketPool[],
  connectors: readonly Address[],
  { tokenIn, tokenOut, amountIn: atomic }: Trade,
  { near, enough }: { near: readonly HopOrder[]; enough: number },
): number {
  const amountIn = Number(atomic);
  // Indices: the input, connectors after one pool, connectors after two, the output.
  const count = connectors.length;
  const last = 2 * count + 1;
  const between = (a: Address, b: Address, from: number, to: number) =>
    pools
      .filter(({ token0, token1 }) => [token0, token1].includes(a) && [token0, token1].includes(b))
      .map((pool): Arc => ({ pool: realPool(pool, a), from, to }));
  const arcs = [
    ...between(tokenIn, tokenOut, 0, last),
    ...connectors.flatMap((x, index) => [
      ...between(tokenIn, x, 0, 1 + index),
      { pool: staying, from: 1 + index, to: 1 + count + index },
      ...between(x, tokenOut, 1 + count + index, last),
      ...connectors.flatMap((y, other) =>
        y === x ? [] : between(x, y, 1 + index, 1 + count + other),
      ),
    ]),
  ];
  let prices = startingPrices(arcs, last);
  const left = pricesLeftBy(near, tokenOut);
  for (const [index, token] of [tokenIn, ...connectors, ...connectors].entries()) {
    prices[index] = left.get(token) ?? prices[index]!;
  }
  // Tokens from which no pools lead to the output are worth nothing.
  const useful = arcs.filter(({ from, to }) => prices[from]! > 0 && prices[to]! > 0);
  const groups = groupsOf(count);
  let bound = boundAt(useful, prices, amountIn);
  for (let sweep = 0; sweep < MAX_SWEEPS && bound > enough; sweep += 1) {
    const before = prices;
    for (const group of groups) prices = balanced(useful, prices, group, amountIn);
    // What one sweep changed points further.
    let reached = boundAt(useful, prices, amountIn);
    for (let stride = 1; ; stride *= 2) {
      const further = prices.map((price, token) =>
        price > 0 ? price * (price / before[token]!) ** stride : 0,
      );
      const there = boundAt(useful, further, amountIn);
      if (!(there < reached)) break;
      [prices, reached] = [further, there];
    }
    if (!(reached < bound * (1 - 1e-13))) return Math.min(bound, reached);
    bound = reached;
  }
  return bound;
}

/** Prices in the output token at which every token's best pool onward begins to trade. */
function startingPrices(arcs: readonly Arc[], last: number): number[] {
  const prices = Array.from({ length: last + 1 }, () => 0);
  prices[last] = 1;
  for (let round = 0; round < last; round += 1) {
    for (const { pool, from, to } of arcs) {
      const price = prices[to]! * pool.spot;
      if (price > prices[from]!) prices[from] = price;
    }
  }
  return prices;
}

/** What the last unit of every token sold on a plan pays, in the output token. */
function pricesLeftBy(plan: readonly HopOrder[], tokenOut: Address): Map<Address, number> {
  const prices = new Map([[tokenOut, 1]]);
  for (const { pool, tokenIn, tokenOut: bought, amountIn } of plan.toReversed()) {
    const price = realPool(pool, tokenIn).priceAfter(Number(amountIn)) * prices.get(bought)!;
    prices.set(tokenIn, Math.max(prices.get(tokenIn) ?? 0, price));
  }
  return prices;
}

function boundAt(arcs: readonly Arc[], prices: readonly number[], amountIn: number): number {
  let bound = amountIn * prices[0]!;
  for (const { pool, from, to } of arcs) {
    const { input, output } = pool.until(prices[from]! / prices[to]!);
    bound += output * prices[to]! - input * prices[from]!;
  }
  return bound;
}

/** Every price alone, and every set of tokens: deep pools tie tokens, whose prices move together. */
function groupsOf(connectors: number): number[][] {
  const prices = Array.from({ length: 2 * connectors + 1 }, (_, index) => [index]);
  const tokens = [
    [0],
    ...Array.from({ length: connectors }, (_, x) => [1 + x, 1 + connectors + x]),
  ];
  const sets = Array.from({ length: 2 ** tokens.length - 1 }, (_, index) =>
    tokens.filter((_token, bit) => ((index + 1) >> bit) % 2 === 1).flat(),
  );
  return [...prices, ...sets];
}

/** The prices of a group in one proportion, so that the bound is least; the others stay. */
function balanced(
  arcs: readonly Arc[],
  prices: readonly number[],
  members: readonly number[],
  amountIn: number,
): number[] {
  const group = new Set(members);
  const touched = arcs.filter(({ from, to }) => group.has(from) || group.has(to));
  const scaled = (factor: number) =>
    prices.map((price, of) => (group.has(of) ? price * factor : price));
  // What the bound falls by as the prices rise: less and less, it is convex.
  const fall = (factor: number) => {
    const at = scaled(factor);
    let worth = group.has(0) ? -amountIn * at[0]! : 0;
    for (const { pool, from, to } of touched) {
      const { input, output } = pool.until(at[from]! / at[to]!);
      if (group.has(from)) worth += input * at[from]!;
      if (group.has(to)) worth -= output * at[to]!;
    }
    return worth;
  };
  let [low, high] = [1, 1];
  for (let step = 1.0001; fall(low) < 0 && low > 1 / MAX_STRIDE; step *= step) low /= step;
  for (let step = 1.0001; fall(high) > 0 && high < MAX_STRIDE; step *= step) high *= step;
  for (let halving = 0; halving < HALVINGS && high / low > 1 + 1e-15; halving += 1) {
    const middle = Math.sqrt(low * high);
    if (fall(middle) > 0) low = middle;
    else high = middle;
  }
  // Of the last two, the one that keeps staying free of charge.
  const [a, b] = [scaled(low), scaled(high)];
  return boundAt(arcs, a, amountIn) < boundAt(arcs, b, amountIn) ? a : b;
}

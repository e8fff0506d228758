import { type MarketPool, v2AmountOut, v2PairOf, v3SwapExactIn } from "../../market/index.ts";
import { curveOf } from "./curve.ts";
import { type LegOrder, type RouteHop, type RouteLeg, sellsToken0, type Step } from "./plan.ts";

/** v3-core takes the input as int256. */
const MAX_V3_AMOUNT_IN = (1n << 255n) - 1n;

/** What a swap does to one pool: exact amounts and the state it leaves. */
export interface PoolSwap {
  readonly amountOut: bigint;
  readonly after: MarketPool;
  readonly ticksCrossed: number;
  readonly emptyWords: number;
}

/**
 * Swaps an exact input through a pool state, bit for bit as its contract.
 * @returns undefined when the pool cannot take the whole input or would pay nothing
 */
export function swapPool(
  pool: MarketPool,
  zeroForOne: boolean,
  amountIn: bigint,
): PoolSwap | undefined {
  if (amountIn <= 0n || amountIn > MAX_V3_AMOUNT_IN) return undefined;
  if (pool.kind === "v3") {
    const swap = v3SwapExactIn(pool, zeroForOne, amountIn);
    if (swap.end !== "complete" || swap.amountOut === 0n) return undefined;
    const { amountOut, sqrtPriceX96, tick, liquidity, ticksCrossed, emptyWords } = swap;
    const after = { ...pool, sqrtPriceX96, tick, liquidity };
    return { amountOut, after, ticksCrossed, emptyWords };
  }
  const amountOut = v2AmountOut(v2PairOf(pool, zeroForOne), amountIn);
  if (amountOut === undefined) return undefined;
  const [change0, change1] = zeroForOne ? [amountIn, -amountOut] : [-amountOut, amountIn];
  const reserves = { reserve0: pool.reserve0 + change0, reserve1: pool.reserve1 + change1 };
  return { amountOut, after: { ...pool, ...reserves }, ticksCrossed: 0, emptyWords: 0 };
}

/** What earlier legs did to a pool. */
interface Passed {
  readonly state: MarketPool;
  readonly taken: bigint;
}

/** Pools that earlier legs went through, by their original states. */
export type Touched = Map<MarketPool, Passed>;

/** How much more than a curve's capacity is worth asking a pool for, floats being what they are. */
const CAPACITY_NOISE = 2e-9;

/**
 * Runs one leg on the states earlier legs left, and notes those it leaves itself.
 * @param touched - updated, also when the leg fails
 * @returns undefined when a pool cannot take its input
 */
export function runLeg(leg: LegOrder, touched: Touched): RouteLeg | undefined {
  const hops: RouteHop[] = [];
  let amount = leg.amountIn;
  for (const step of leg.steps) {
    const passed = touched.get(step.pool) ?? { state: step.pool, taken: 0n };
    const taken = passed.taken + amount;
    const zeroForOne = sellsToken0(step);
    // A walk to the end of an empty pool is long, and its end is known beforehand.
    const isTooMuch =
      Number(taken) > curveOf(step.pool, zeroForOne).capacity * (1 + CAPACITY_NOISE);
    const swap = isTooMuch ? undefined : swapPool(passed.state, zeroForOne, amount);
    if (!swap) return undefined;
    touched.set(step.pool, { state: swap.after, taken });
    const { amountOut, ticksCrossed, emptyWords } = swap;
    hops.push({ ...step, amountIn: amount, amountOut, ticksCrossed, emptyWords });
    amount = amountOut;
  }
  return { amountIn: leg.amountIn, amountOut: amount, hops };
}

/** What legs do in a row: their outcome, or the first that failed. */
export type Run =
  | { readonly legs: readonly RouteLeg[]; readonly amountOut: bigint }
  | { readonly failedLeg: number };

/** Runs legs in order, pools they share on updated state, as one transaction would. */
export function runLegs(orders: readonly LegOrder[]): Run {
  const touched: Touched = new Map();
  const legs: RouteLeg[] = [];
  let amountOut = 0n;
  for (const [index, order] of orders.entries()) {
    const leg = runLeg(order, touched);
    if (!leg) return { failedLeg: index };
    legs.push(leg);
    amountOut += leg.amountOut;
  }
  return { legs, amountOut };
}

/** Whether two steps of any legs go through the same pool. */
export function sharesPool(orders: readonly { readonly steps: readonly Step[] }[]): boolean {
  const pools = orders.flatMap(({ steps }) => steps.map(({ pool }) => pool));
  return new Set(pools).size < pools.length;
}

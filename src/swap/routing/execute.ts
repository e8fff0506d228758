import type { Address } from "viem";
import { type MarketPool, v2AmountOut, v2PairOf, v3SwapExactIn } from "../../market/index.ts";
import { curveOf } from "./curve.ts";
import { turnsOf } from "./graph.ts";
import { type HopOrder, type RouteHop, sellsToken0, type Step } from "./plan.ts";

/** v3-core takes the input as int256. */
const MAX_V3_AMOUNT_IN = (1n << 255n) - 1n;
/** How much more than a curve's capacity is worth asking a pool for, floats being what they are. */
const CAPACITY_NOISE = 2e-9;

/** What a swap does to one pool: exact amounts and what they took. */
export interface PoolSwap {
  readonly amountOut: bigint;
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
    return swap;
  }
  const amountOut = v2AmountOut(v2PairOf(pool, zeroForOne), amountIn);
  return amountOut === undefined ? undefined : { amountOut, ticksCrossed: 0, emptyWords: 0 };
}

/** What hops do: their outcome, or the first that failed. */
export type Run =
  { readonly hops: readonly RouteHop[]; readonly amountOut: bigint } | { readonly failed: number };

/**
 * Runs hops as the executor does: all there is of a token goes to its sellers in proportion to
 * their orders, rounded down, the rest to the last.
 * @param orders - in the order of execution, see `inOrder`
 */
export function runHops(amountIn: bigint, orders: readonly HopOrder[]): Run {
  const held = new Map<Address, bigint>();
  const hops: RouteHop[] = [];
  for (const [turn, sellers] of turnsOf(orders).entries()) {
    const there = turn === 0 ? amountIn : (held.get(sellers[0]?.tokenIn ?? "0x") ?? 0n);
    const planned = sellers.reduce((sum, order) => sum + order.amountIn, 0n);
    let rest = there;
    for (const [index, order] of sellers.entries()) {
      const isLast = index === sellers.length - 1;
      const amount = isLast ? rest : partOf(there, order.amountIn, planned);
      rest -= amount;
      const hop = runHop(order, amount);
      if (!hop) return { failed: hops.length };
      hops.push(hop);
      held.set(order.tokenOut, (held.get(order.tokenOut) ?? 0n) + hop.amountOut);
    }
  }
  const target = orders.at(-1)?.tokenOut;
  return { hops, amountOut: (target && held.get(target)) ?? 0n };
}

function partOf(there: bigint, amount: bigint, planned: bigint): bigint {
  return there === planned ? amount : (there * amount) / planned;
}

/** @returns undefined when the pool cannot take the amount */
export function runHop(step: Step, amountIn: bigint): RouteHop | undefined {
  const { pool, tokenIn, tokenOut } = step;
  const zeroForOne = sellsToken0(step);
  // A walk to the end of an empty pool is long, and its end is known beforehand.
  const { capacity } = curveOf(pool, zeroForOne);
  if (Number(amountIn) > capacity * (1 + CAPACITY_NOISE)) return undefined;
  const swap = swapPool(pool, zeroForOne, amountIn);
  if (!swap) return undefined;
  const { amountOut, ticksCrossed, emptyWords } = swap;
  return { pool, tokenIn, tokenOut, amountIn, amountOut, ticksCrossed, emptyWords };
}

import type { Address } from "viem";
import type { MarketPool } from "../../market/index.ts";

/** Most pools of a route (SwapExecutor.MAX_HOPS). */
export const MAX_HOPS = 24;
/** Most pools that share one token: the legs of a split. */
export const MAX_LEGS = 8;
/** Most pools one after the other. */
export const MAX_DEPTH = 3;

/** A pool in one trade direction. */
export interface Step {
  /** Its state at the block the route is planned for. */
  readonly pool: MarketPool;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
}

/**
 * A pool and what it is to sell. Hops that sell the same token share what there is of it in
 * proportion to these amounts.
 */
export interface HopOrder extends Step {
  readonly amountIn: bigint;
}

/** What one pool does; amounts are exact. */
export interface RouteHop extends HopOrder {
  readonly amountOut: bigint;
  readonly ticksCrossed: number;
  readonly emptyWords: number;
}

/** `single`: one pool. `multi`: several in a row. `split`: pools that share a token. */
export type RouteType = "single" | "multi" | "split";

/**
 * A route with exact amounts: a graph in which every pool stands once, in the order of execution.
 * A token is sold once everything that buys it is done, so that flows merge on the way.
 */
export interface RoutePlan {
  readonly type: RouteType;
  readonly hops: readonly RouteHop[];
  readonly amountIn: bigint;
  /** Before any platform fee. */
  readonly amountOut: bigint;
  /** Gas of the executor's transaction, all included. */
  readonly gas: bigint;
  /** Output less the price of the gas; the output itself where gas has no price. */
  readonly netOut: bigint;
}

/** The type of a route with these hops. */
export function typeOf(hops: readonly { readonly tokenIn: string }[]): RouteType {
  if (hops.length < 2) return "single";
  const isShared = hops.some(({ tokenIn }, index) =>
    hops.some((other, place) => place < index && other.tokenIn === tokenIn),
  );
  return isShared ? "split" : "multi";
}

/** Whether a step sells its pool's token0. */
export function sellsToken0({ pool, tokenIn }: Step): boolean {
  return pool.token0 === tokenIn;
}

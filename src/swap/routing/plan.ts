import type { Address } from "viem";
import type { MarketPool } from "../../market/index.ts";

/** Most legs and hops per leg the executor takes (SwapExecutor.MAX_LEGS, MAX_HOPS). */
export const MAX_LEGS = 8;
export const MAX_HOPS = 3;

/** A pool in one trade direction. */
export interface Step {
  /** Its state at the block the route is planned for. */
  readonly pool: MarketPool;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
}

/** One way from the input to the output token, and how much of the input takes it. */
export interface LegOrder {
  readonly amountIn: bigint;
  readonly steps: readonly Step[];
}

/** What one pool does in one leg; amounts are exact. */
export interface RouteHop extends Step {
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  readonly ticksCrossed: number;
  readonly emptyWords: number;
}

export interface RouteLeg {
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  readonly hops: readonly RouteHop[];
}

/** `single`: one pool. `multi`: one leg of several pools. `split`: several legs. */
export type RouteType = "single" | "multi" | "split";

/** A route with exact amounts: what the legs pay when they are executed in this order. */
export interface RoutePlan {
  readonly type: RouteType;
  readonly legs: readonly RouteLeg[];
  readonly amountIn: bigint;
  /** Before any platform fee. */
  readonly amountOut: bigint;
  /** Gas of the executor's transaction, all included. */
  readonly gas: bigint;
  /** Output less the price of the gas; the output itself where gas has no price. */
  readonly netOut: bigint;
}

/** The type of a route with these legs. */
export function typeOf(legs: readonly { readonly hops: readonly unknown[] }[]): RouteType {
  if (legs.length > 1) return "split";
  return (legs[0]?.hops.length ?? 1) > 1 ? "multi" : "single";
}

/** Whether a step sells its pool's token0. */
export function sellsToken0({ pool, tokenIn }: Step): boolean {
  return pool.token0 === tokenIn;
}

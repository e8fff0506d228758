import type { Address } from "viem";
import { routeGas } from "../gasModel.ts";
import type { PoolCurve } from "./curve.ts";
import type { TradeMarket } from "./market.ts";
import { type RouteHop, type RoutePlan, typeOf } from "./plan.ts";

/** What gas costs on a chain, in a token that stands for the native asset. */
export interface GasTerms {
  /** Wei per unit of gas. */
  readonly priceWei: bigint;
  /** ERC-20 worth the same as the native asset: its wrapped form, or the asset itself. */
  readonly nativeToken: Address;
  /** Wei in one atomic unit of that token: 1 where it has the native decimals. */
  readonly weiPerUnit: number;
}

/** Output token per unit of gas; undefined where the pools give the native asset no price. */
export type OutPerGas = number | undefined;

/**
 * Prices gas in the output token by the deepest pools at hand: native → output, or with one token
 * in between.
 */
export function priceGas(market: TradeMarket, terms: GasTerms | undefined): OutPerGas {
  if (!terms) return undefined;
  const { tokenIn, tokenOut } = market.trade;
  const perUnit = Number(terms.priceWei) / terms.weiPerUnit;
  if (terms.nativeToken === tokenOut) return perUnit;
  const direct = deepest(market.hop(terms.nativeToken, tokenOut));
  if (direct) return perUnit * direct.price;
  let best: { price: number; depth: number } | undefined;
  for (const token of [tokenIn, ...market.connectors]) {
    if (token === terms.nativeToken) continue;
    const first = deepest(market.hop(terms.nativeToken, token));
    const second = first && deepest(market.hop(token, tokenOut));
    if (!second) continue;
    // Both in the output token, so that the shallower of the two can be told.
    const depth = Math.min(first.depth * second.price, second.depth);
    if (depth > (best?.depth ?? 0)) best = { price: first.price * second.price, depth };
  }
  return best && perUnit * best.price;
}

/** The deepest pool's price without fee, and its depth in what it pays. */
function deepest(curves: readonly PoolCurve[]): { price: number; depth: number } | undefined {
  let best: { price: number; depth: number } | undefined;
  for (const { starts, slopes, pool } of curves) {
    const [start, slope] = [starts[0], slopes[0]];
    if (start === undefined || slope === undefined) continue;
    const depth = slope / start;
    const price = 1 / (start * start * (1 - pool.feePips / 1e6));
    if (depth > (best?.depth ?? 0)) best = { price, depth };
  }
  return best;
}

/** The price of gas in the output token, rounded up; 0 where gas has no price. */
export function gasCost(gas: bigint, outPerGas: OutPerGas): bigint {
  return outPerGas === undefined ? 0n : BigInt(Math.ceil(Number(gas) * outPerGas));
}

/** Hops as executed, with what they cost. */
export function toPlan(hops: readonly RouteHop[], outPerGas: OutPerGas): RoutePlan {
  const source = hops[0]?.tokenIn;
  const target = hops.at(-1)?.tokenOut;
  let amountIn = 0n;
  let amountOut = 0n;
  for (const hop of hops) {
    if (hop.tokenIn === source) amountIn += hop.amountIn;
    if (hop.tokenOut === target) amountOut += hop.amountOut;
  }
  const gas = routeGas(hops);
  const netOut = amountOut - gasCost(gas, outPerGas);
  return { type: typeOf(hops), hops, amountIn, amountOut, gas, netOut };
}

/** Order of preference: more net output, then less gas, then fewer hops. */
export function comparePlans(a: RoutePlan, b: RoutePlan): number {
  if (a.netOut !== b.netOut) return a.netOut > b.netOut ? -1 : 1;
  if (a.gas !== b.gas) return a.gas < b.gas ? -1 : 1;
  return a.hops.length - b.hops.length;
}

import {
  afterFeeBps,
  afterFeePips,
  multiply,
  priceImpactPercent,
  toFeeBps,
} from "../market/index.ts";
import type { Hop, RouteOption } from "./model.ts";
import type { PoolQuote, TradeRequest } from "./quoteSource.ts";
import { minimumOut, platformFee, shortfallBps } from "./slippage.ts";

/** Terms of a quote that do not depend on the route. */
export interface Terms {
  readonly slippageBps: number;
  readonly platformFeeBps: number;
}

/** A route with every figure of the answer; `outputAmount` is after the platform fee. */
export type PricedRoute = Omit<RouteOption, "reason">;

/** Pools by what they pay, best first; of equal outputs the one that costs less gas. */
export function rankQuotes(quotes: readonly PoolQuote[]): PoolQuote[] {
  return [...quotes].sort(
    (a, b) => descending(a.amountOut, b.amountOut) || descending(b.gas, a.gas),
  );
}

/** The route through one pool. */
export function priceRoute(quote: PoolQuote, trade: TradeRequest, terms: Terms): PricedRoute {
  const outputAmount = quote.amountOut - platformFee(quote.amountOut, terms.platformFeeBps);
  const kept = afterFeePips(quote.feePips);
  const priceImpact = priceImpactPercent(trade.amountIn, quote.amountOut, quote.spot, kept);
  const hop: Hop = {
    dexId: quote.venue.id,
    amountIn: trade.amountIn.toString(),
    amountOut: quote.amountOut.toString(),
    priceImpact,
    pool: quote.address,
    fee: quote.feePips,
    tokenIn: trade.tokenIn,
    tokenOut: trade.tokenOut,
  };
  return {
    type: "single",
    dexId: quote.venue.id,
    dexName: quote.venue.name,
    outputAmount: outputAmount.toString(),
    minOut: minimumOut(outputAmount, terms.slippageBps).toString(),
    priceImpact,
    gasEstimate: quote.gas.toString(),
    feeBps: toFeeBps(multiply(kept, afterFeeBps(terms.platformFeeBps))),
    hops: [hop],
  };
}

/** A route that lost against the best one, with the reason. */
export function priceOption(
  quote: PoolQuote,
  best: PoolQuote,
  trade: TradeRequest,
  terms: Terms,
): RouteOption {
  return { ...priceRoute(quote, trade, terms), reason: reasonForLosing(best, quote) };
}

function reasonForLosing(best: PoolQuote, other: PoolQuote): string {
  if (other.amountOut < best.amountOut) {
    return `${shortfallBps(best.amountOut, other.amountOut)} bps less output than the best route`;
  }
  return other.gas > best.gas
    ? `same output for ${other.gas - best.gas} more gas`
    : "same output and gas as the best route";
}

function descending(a: bigint, b: bigint): number {
  return a < b ? 1 : a > b ? -1 : 0;
}

import type { Venue } from "../chains/index.ts";
import { toFeeBps } from "../market/index.ts";
import type { Hop, RouteOption } from "./model.ts";
import type { PricedRoute } from "./quoteSource.ts";
import { minimumOut, platformFee, shortfallBps } from "./slippage.ts";

/** Terms of a quote that do not depend on the route. */
export interface Terms {
  readonly slippageBps: number;
  readonly platformFeeBps: number;
  /** Gas of wrapping and unwrapping the native asset. */
  readonly nativeGas: bigint;
}

/** A route with every figure of the answer; `outputAmount` is after the platform fee. */
export type RouteFigures = Omit<RouteOption, "reason">;

/** A route as the answer shows it. */
export function showRoute(route: PricedRoute, terms: Terms): RouteFigures {
  const outputAmount = route.amountOut - platformFee(route.amountOut, terms.platformFeeBps);
  const venue = mainVenue(route);
  return {
    type: route.type,
    dexId: venue.id,
    dexName: venue.name,
    outputAmount: outputAmount.toString(),
    minOut: minimumOut(outputAmount, terms.slippageBps).toString(),
    priceImpact: 100 * route.impact,
    gasEstimate: (route.gas + terms.nativeGas).toString(),
    feeBps: toFeeBps(route.kept * (1 - terms.platformFeeBps / 10_000)),
    hops: showHops(route),
  };
}

/** A route that lost against the best one, with the reason. */
export function showOption(route: PricedRoute, best: PricedRoute, terms: Terms): RouteOption {
  return { ...showRoute(route, terms), reason: reasonForLosing(best, route) };
}

/** The venue that sells the largest part of the input. */
function mainVenue({ type, hops }: PricedRoute): Venue {
  const [first] = hops;
  if (!first) throw new Error("a route without hops");
  if (type !== "split") return first.venue;
  const sold = new Map<Venue, bigint>();
  for (const { venue, tokenIn, amountIn } of hops) {
    if (tokenIn === first.tokenIn) sold.set(venue, (sold.get(venue) ?? 0n) + amountIn);
  }
  let main = first.venue;
  for (const [venue, amountIn] of sold) {
    if (amountIn > (sold.get(main) ?? 0n)) main = venue;
  }
  return main;
}

/** All hops in the order of execution, with what is needed to build them again. */
function showHops({ hops }: PricedRoute): Hop[] {
  return hops.map((hop) => ({
    dexId: hop.venue.id,
    amountIn: hop.amountIn.toString(),
    amountOut: hop.amountOut.toString(),
    priceImpact: 100 * hop.impact,
    pool: hop.pool,
    fee: hop.feePips,
    tokenIn: hop.tokenIn,
    tokenOut: hop.tokenOut,
  }));
}

function reasonForLosing(best: PricedRoute, other: PricedRoute): string {
  if (other.amountOut < best.amountOut) {
    const behindBps = shortfallBps(best.amountOut, other.amountOut);
    const netBps = best.netOut > 0n ? shortfallBps(best.netOut, other.netOut) : behindBps;
    const afterGas = netBps === behindBps ? "" : `, ${netBps} bps after gas`;
    return `${behindBps} bps less output than the best route${afterGas}`;
  }
  if (other.amountOut > best.amountOut) {
    const ahead = shortfallBps(other.amountOut, best.amountOut);
    return `${other.gas - best.gas} more gas, worth more than its ${ahead} bps of extra output`;
  }
  return other.gas > best.gas
    ? `same output for ${other.gas - best.gas} more gas`
    : "same output and gas as the best route";
}

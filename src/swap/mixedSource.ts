import type { Venue } from "../chains/index.ts";
import { gasCost } from "./routing/index.ts";
import type { MarketView, PricedRoute, QuoteSource } from "./quoteSource.ts";

/**
 * Prices each venue the way its configuration says: in memory, or by its quoter on chain where its
 * curve is not one of those known here. A trade is routed over the venues in memory; pools behind
 * quoters stand beside those routes, each for the whole input, at the same block.
 */
export function createMixedSource(memory: QuoteSource, onChain: QuoteSource): QuoteSource {
  return {
    async quote(request, state) {
      const behindQuoters = request.venues.filter(isBehindQuoter);
      if (behindQuoters.length === 0) return memory.quote(request, state);
      const venues = request.venues.filter((venue) => !isBehindQuoter(venue));
      const local = await memory.quote({ ...request, venues }, state);
      const { blockNumber } = local;
      return merge(
        local,
        await onChain.quote({ ...request, venues: behindQuoters }, { blockNumber }),
      );
    },
    price(request, hops) {
      const ids = new Set(hops.map(({ pool }) => pool.venueId));
      const isQuoted = request.chain.venues.some(
        (venue) => ids.has(venue.id) && isBehindQuoter(venue),
      );
      return (isQuoted ? onChain : memory).price(request, hops);
    },
  };
}

function isBehindQuoter({ pricing }: Venue): boolean {
  return pricing === "quoter";
}

/** Both sides' routes by net output, gas priced alike. */
function merge(local: MarketView, remote: MarketView): MarketView {
  const { blockNumber, outPerGas } = local;
  const afterGas = (route: PricedRoute) => ({
    ...route,
    netOut: route.amountOut - gasCost(route.gas, outPerGas),
  });
  const routes = [...local.routes, ...remote.routes.map(afterGas)];
  routes.sort((a, b) => (a.netOut === b.netOut ? 0 : a.netOut > b.netOut ? -1 : 1));
  return { blockNumber, outPerGas, routes };
}

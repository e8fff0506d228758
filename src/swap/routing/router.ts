import type { Address } from "viem";
import { comparePlans, type GasTerms, type OutPerGas, priceGas } from "./gas.ts";
import { openMarket, type PoolLookup, type Trade } from "./market.ts";
import type { RoutePlan } from "./plan.ts";
import { planSingles } from "./singles.ts";
import { planSplit } from "./split.ts";

/** Routes that are answered: the best one, and others that lost. */
export const MAX_ROUTES = 6;

/** What routes are looked for in. */
export interface RoutingTerms {
  /** Pools at one block. */
  readonly lookup: PoolLookup;
  /** Tokens that routes may pass through; checksummed. */
  readonly connectors: readonly Address[];
  /** What gas costs; undefined: routes are ranked by output alone. */
  readonly gas?: GasTerms | undefined;
}

/** The routes of a trade, all exact. */
export interface RouteChoice {
  readonly best: RoutePlan;
  /** Up to five others, best first; none goes the same way as another. */
  readonly alternatives: readonly RoutePlan[];
  /** Output token per unit of gas; undefined where gas has no price and none was counted. */
  readonly outPerGas: OutPerGas;
}

/**
 * The best route of an exact-input trade over direct pools, up to three hops through connectors,
 * and splits over any of these, by exact output net of gas.
 *
 * @returns undefined when the pools cannot take the whole input
 */
export function findRoutes(terms: RoutingTerms, trade: Trade): RouteChoice | undefined {
  const market = openMarket(terms.lookup, trade, terms.connectors);
  const outPerGas = priceGas(market, terms.gas);
  const { ranked } = planSingles(market, outPerGas);
  const split = planSplit(market, outPerGas);
  const plans = [...(split ? [split.best, split.widest] : []), ...ranked].sort(comparePlans);
  const [best, ...others] = withoutRepeats(plans);
  return best && { best, alternatives: others, outPerGas };
}

/** The first plans, and of those that go through the same pools only the first. */
function withoutRepeats(plans: readonly RoutePlan[]): RoutePlan[] {
  const first: RoutePlan[] = [];
  for (const plan of plans) {
    if (first.length === MAX_ROUTES) break;
    if (!first.some((other) => haveSamePools(plan, other))) first.push(plan);
  }
  return first;
}

/** Whether two plans, in each of which a pool stands once, go through the same pools. */
function haveSamePools({ hops }: RoutePlan, { hops: others }: RoutePlan): boolean {
  return (
    hops.length === others.length &&
    hops.every(({ pool }) => others.some((other) => other.pool.address === pool.address))
  );
}

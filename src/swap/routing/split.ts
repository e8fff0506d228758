import type { MarketPool } from "../../market/index.ts";
import { routeGas } from "../gasModel.ts";
import { comparePlans, gasCost, type OutPerGas, toPlan } from "./gas.ts";
import { toLegs } from "./legs.ts";
import type { TradeMarket } from "./market.ts";
import { allocate, type Share } from "./network.ts";
import { type LegOrder, MAX_LEGS, type RouteLeg, type RoutePlan } from "./plan.ts";
import { sharingPairs, untangle } from "./polish.ts";
import { type Executed, execute, repairUnits } from "./repair.ts";

/** Most networks solved while legs are taken away. */
const MAX_SOLVES = 24;
/** Removals that did not pay before the search ends. */
const MAX_FAILURES = 2;

/** The best split, and about the one before legs were given up for their gas. */
export interface SplitPlans {
  readonly best: RoutePlan;
  readonly widest: RoutePlan;
}

interface Candidate {
  readonly excluded: ReadonlySet<MarketPool>;
  readonly shares: readonly Share[];
  readonly orders: readonly LegOrder[];
}

/**
 * The best split over all candidate pools, net of gas.
 *
 * The network of all pools is solved, then pools are taken away: first while there are more legs
 * than the executor takes, giving up the least surplus; then while that raises the net output. A
 * pool's surplus bounds from below what its loss costs, so the search ends as soon as no leg's gas
 * can be worth more than its surplus.
 *
 * @returns undefined when no arrangement takes the whole input
 */
export function planSplit(market: TradeMarket, outPerGas: OutPerGas): SplitPlans | undefined {
  const { amountIn } = market.trade;
  let solves = 0;
  const executions = new Map<readonly LegOrder[], Executed | undefined>();
  const all = arrange(new Set());
  let fitting = all;
  while (fitting && fitting.orders.length > MAX_LEGS) fitting = arrange(withoutLeast(fitting));
  const widest = fitting && run(fitting.orders);
  const chosen = fitting && widest && paring(fitting, widest);
  const plans = [
    ...(chosen ? finished(chosen.orders) : []),
    // Of a few legs too many, giving up the legs may beat giving up pools.
    ...(all && isSlightlyTooLong(all) ? finished(all.orders) : []),
  ].sort(comparePlans);
  return plans[0] && { best: plans[0], widest: widest ?? plans[0] };

  function arrange(excluded: ReadonlySet<MarketPool>): Candidate | undefined {
    solves += 1;
    const allocation = solves <= MAX_SOLVES ? allocate(market, excluded) : undefined;
    if (!allocation) return undefined;
    const { shares } = allocation;
    return { excluded, shares, orders: toLegs(shares, market.trade) };
  }

  function run(orders: readonly LegOrder[]): RoutePlan | undefined {
    const executed = executeOnce(orders);
    return executed && toPlan(executed.legs, outPerGas);
  }

  function executeOnce(orders: readonly LegOrder[]): Executed | undefined {
    if (!executions.has(orders)) executions.set(orders, execute(amountIn, orders));
    return executions.get(orders);
  }

  /** Takes pools away while that pays. */
  function paring(from: Candidate, plan: RoutePlan): Candidate {
    if (outPerGas === undefined) return from;
    const refused = new Set<MarketPool>();
    let [current, best] = [from, plan];
    while (best.legs.length > 1 && refused.size < MAX_FAILURES) {
      const pool = leastWorthIts(current, best, outPerGas, refused);
      if (!pool) break;
      const next = arrange(new Set([...current.excluded, pool]));
      const pared = next && next.orders.length <= MAX_LEGS ? run(next.orders) : undefined;
      if (next && pared && comparePlans(pared, best) < 0) [current, best] = [next, pared];
      else refused.add(pool);
    }
    return current;
  }

  /** Legs as they are, and where they cost each other something also without the worst of them. */
  function finished(orders: readonly LegOrder[]): RoutePlan[] {
    const arrangements = orders.length <= MAX_LEGS ? [orders] : [];
    if (orders.length > MAX_LEGS || sharingPairs(orders).length > 0) {
      arrangements.push(untangle(orders, MAX_LEGS).orders);
    }
    return arrangements
      .flatMap((legs) => executeOnce(legs) ?? [])
      .map((executed) => toPlan(repairUnits(executed).legs, outPerGas));
  }
}

/** This many legs too many are few: of more, several pools leave before the next solve. */
const FEW_TOO_MANY = 3;
/** Of the pools of one hop, at most this part leaves at once: the others' worth rises. */
const PART_LEAVING = 1 / 4;

function isSlightlyTooLong({ orders }: Candidate): boolean {
  return orders.length > MAX_LEGS && orders.length <= MAX_LEGS + FEW_TOO_MANY;
}

function hopOf({ tokenIn, tokenOut }: Share): string {
  return tokenIn + tokenOut;
}

/** What a candidate with too many legs excludes next: the pools that matter least. */
function withoutLeast({ excluded, shares, orders }: Candidate): Set<MarketPool> {
  const excess = orders.length - MAX_LEGS;
  const count = excess > FEW_TOO_MANY ? Math.floor(excess / 2) : 1;
  const sizes = Map.groupBy(shares, hopOf);
  const leftBy = new Map<string, number>();
  const leaving = new Set(excluded);
  for (const share of shares.toSorted((a, b) => a.surplus - b.surplus)) {
    if (leaving.size - excluded.size === count) break;
    const left = leftBy.get(hopOf(share)) ?? 0;
    if (left > 0 && left >= (sizes.get(hopOf(share))?.length ?? 0) * PART_LEAVING) continue;
    leaving.add(share.curve.pool);
    leftBy.set(hopOf(share), left + 1);
  }
  return leaving;
}

/** The pool whose legs cost most gas beyond its surplus; undefined when every pool pays its way. */
function leastWorthIts(
  { shares }: Candidate,
  { legs, gas }: RoutePlan,
  outPerGas: number,
  refused: ReadonlySet<MarketPool>,
): MarketPool | undefined {
  let worst: { pool: MarketPool; loss: number } | undefined;
  for (const { curve, surplus } of shares) {
    const { pool } = curve;
    if (refused.has(pool)) continue;
    const staying = legs.filter((leg) => !uses(leg, pool));
    const saved = Number(gasCost(gas - routeGas(staying), outPerGas));
    const loss = saved - surplus;
    if (loss > (worst?.loss ?? 0)) worst = { pool, loss };
  }
  return worst?.pool;
}

function uses({ hops }: RouteLeg, pool: MarketPool): boolean {
  return hops.some((hop) => hop.pool === pool);
}

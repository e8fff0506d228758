import type { MarketPool } from "../../market/index.ts";
import { routeGas } from "../gasModel.ts";
import { comparePlans, gasCost, type OutPerGas, toPlan } from "./gas.ts";
import { connected, toHops, tooMany } from "./graph.ts";
import type { TradeMarket } from "./market.ts";
import { allocate, type Allocation, type Share } from "./network.ts";
import type { HopOrder, RoutePlan } from "./plan.ts";
import { execute, repairUnits } from "./repair.ts";

/** Most networks solved while pools are taken away. */
const MAX_SOLVES = 24;
/** Removals that did not pay before the search ends. */
const MAX_FAILURES = 2;

/** The best split, and the one before pools were given up for their gas. */
export interface SplitPlans {
  readonly best: RoutePlan;
  readonly widest: RoutePlan;
}

interface Candidate {
  readonly excluded: ReadonlySet<MarketPool>;
  readonly allocation: Allocation;
  readonly orders: readonly HopOrder[];
}

/**
 * The best split over all candidate pools, net of gas.
 *
 * The network of all pools is solved, then pools are taken away: first while there are more of them
 * than the executor takes, giving up the least surplus; then while that raises the net output. A
 * pool's surplus bounds from below what its loss costs, so the search ends as soon as no pool's gas
 * can be worth more than its surplus.
 *
 * @returns undefined when no arrangement takes the whole input
 */
export function planSplit(market: TradeMarket, outPerGas: OutPerGas): SplitPlans | undefined {
  const { trade } = market;
  let solves = 0;
  let fitting = arrange(new Set());
  while (fitting && tooMany(fitting.orders).excess > 0) {
    fitting = arrange(withoutLeast(fitting), fitting.allocation);
  }
  const widest = fitting && run(fitting);
  if (!fitting || !widest) return undefined;
  return { best: repaired(paring(fitting, widest)), widest };

  function arrange(excluded: ReadonlySet<MarketPool>, near?: Allocation): Candidate | undefined {
    solves += 1;
    const allocation = solves <= MAX_SOLVES ? allocate(market, excluded, near) : undefined;
    if (!allocation) return undefined;
    const orders = toHops(allocation.shares, trade.tokenIn, trade.tokenOut);
    return { excluded, allocation, orders };
  }

  function run({ orders }: Candidate): RoutePlan | undefined {
    const hops = execute(trade, orders);
    return hops && toPlan(hops, outPerGas);
  }

  /** Takes pools away while that pays. */
  function paring(from: Candidate, plan: RoutePlan): RoutePlan {
    if (outPerGas === undefined) return plan;
    const refused = new Set<MarketPool>();
    let [current, best] = [from, plan];
    while (best.hops.length > 1 && refused.size < MAX_FAILURES) {
      const pool = leastWorthIts(current, best, outPerGas, refused);
      if (!pool) break;
      const next = arrange(new Set([...current.excluded, pool]), current.allocation);
      const pared = next && tooMany(next.orders).excess === 0 ? run(next) : undefined;
      if (next && pared && comparePlans(pared, best) < 0) [current, best] = [next, pared];
      else refused.add(pool);
    }
    return best;
  }

  function repaired(plan: RoutePlan): RoutePlan {
    const hops = repairUnits(trade, plan.hops);
    return hops === plan.hops ? plan : toPlan(hops, outPerGas);
  }
}

/** This many pools too many are few: of more, several leave before the next solve. */
const FEW_TOO_MANY = 3;
/** Of the pools between two tokens, at most this part leaves at once: the others' worth rises. */
const PART_LEAVING = 1 / 4;

function pairOf({ tokenIn, tokenOut }: Share): string {
  return tokenIn + tokenOut;
}

/** What a candidate with too many pools excludes next: those that matter least. */
function withoutLeast({ excluded, allocation: { shares }, orders }: Candidate): Set<MarketPool> {
  const { excess, among } = tooMany(orders);
  const crowding = new Set(among.map(({ pool }) => pool));
  const count = excess > FEW_TOO_MANY ? Math.floor(excess / 2) : 1;
  const sizes = Map.groupBy(shares, pairOf);
  const leftBy = new Map<string, number>();
  const leaving = new Set(excluded);
  for (const share of shares.toSorted((a, b) => a.surplus - b.surplus)) {
    if (leaving.size - excluded.size === count) break;
    if (!crowding.has(share.curve.pool)) continue;
    const left = leftBy.get(pairOf(share)) ?? 0;
    if (left > 0 && left >= (sizes.get(pairOf(share))?.length ?? 0) * PART_LEAVING) continue;
    leaving.add(share.curve.pool);
    leftBy.set(pairOf(share), left + 1);
  }
  return leaving;
}

/** The pool whose gas costs most beyond its surplus; undefined when every pool pays its way. */
function leastWorthIts(
  { allocation: { shares } }: Candidate,
  { hops, gas }: RoutePlan,
  outPerGas: number,
  refused: ReadonlySet<MarketPool>,
): MarketPool | undefined {
  const [source, target] = [hops[0]?.tokenIn, hops.at(-1)?.tokenOut];
  if (!source || !target) return undefined;
  // A transaction with no pool is left at the least, so that no pool's gas is more than this.
  const most = Number(gasCost(gas - routeGas([]), outPerGas));
  let worst: { pool: MarketPool; loss: number } | undefined;
  for (const { curve, surplus } of shares) {
    const { pool } = curve;
    if (refused.has(pool) || most - surplus <= (worst?.loss ?? 0)) continue;
    const others = hops.filter((hop) => hop.pool !== pool);
    const staying = connected(others, source, target);
    const saved = Number(gasCost(gas - routeGas(staying), outPerGas));
    const loss = saved - surplus;
    if (loss > (worst?.loss ?? 0)) worst = { pool, loss };
  }
  return worst?.pool;
}

import type { Address } from "viem";
import { gasWithHop } from "../gasModel.ts";
import { outputFor, type PoolCurve, ticksCrossedBy } from "./curve.ts";
import { runHop, swapPool } from "./execute.ts";
import { comparePlans, type OutPerGas, toPlan } from "./gas.ts";
import { bestStart, type TradeMarket } from "./market.ts";
import type { RouteHop, RoutePlan, Step } from "./plan.ts";

/** Ways through one token path that are carried on from hop to hop. */
const MAX_WAYS = 6;
/** Routes that are executed exactly. */
const MAX_EXACT = 12;
/** Routes that are worth showing beside the best. */
const SHOWN = 5;
/** Units a hop may lose to rounding, on either side. */
const ROUNDED_UNITS = 4;
/** What floats may be wrong by. */
const FLOAT_NOISE = 1e-9;
/** Amounts below this are exact from the start: here single units change what is best. */
const SMALL = 1e5;

/** A route without splits, estimated in floats. */
interface Way {
  /** The way to what the last step sells; undefined where that is the trade's own input. */
  readonly before: Way | undefined;
  /** The last step. */
  readonly step: Step;
  /** What is there after it. */
  readonly amount: number;
  /** Gas of the transaction, were this the whole route. */
  readonly gas: number;
  /** Sum of `1 / amount` along the way, which bounds what rounding takes. */
  readonly coarseness: number;
}

/** The best routes without splits; all exact. */
export interface SingleRoutes {
  /** Best first. */
  readonly ranked: readonly RoutePlan[];
}

/**
 * The routes without splits that matter: the best one over every token path of up to three hops, the
 * best pool of each venue, and the best through connectors. Estimates pick them; their amounts, and
 * the order they come in, are exact.
 */
export function planSingles(market: TradeMarket, outPerGas: OutPerGas): SingleRoutes {
  const { tokenIn, tokenOut, amountIn } = market.trade;
  const net = ({ amount, gas }: Way) => amount - gas * (outPerGas ?? 0);
  const ways = onwards(market, [undefined], tokenIn, tokenOut);
  const toConnector = new Map(
    market.connectors.map((token) => [
      token,
      undominated(onwards(market, [undefined], tokenIn, token)),
    ]),
  );
  for (const [token, before] of toConnector) {
    ways.push(...undominated(onwards(market, before, token, tokenOut)));
  }
  let bestNet = ways.reduce((most, way) => Math.max(most, net(way)), -Infinity);
  for (const { x, y, bound } of threeHopPaths(market)) {
    // A pool never pays more than at its first unit.
    if (bound <= bestNet) break;
    const between = undominated(onwards(market, toConnector.get(x) ?? [], x, y));
    const found = undominated(onwards(market, between, y, tokenOut));
    ways.push(...found);
    bestNet = found.reduce((most, way) => Math.max(most, net(way)), bestNet);
  }
  ways.sort((a, b) => net(b) - net(a));
  const chosen = new Set([
    ...contenders(ways, net),
    ...ways.slice(0, SHOWN),
    ...firstOfEach(ways, ({ before, step }) => (before ? "multi" : step.pool.venueId)),
  ]);
  const run = exactRuns(amountIn);
  const ranked = [...chosen]
    .flatMap((way) => {
      const hops = run(way);
      return hops ? [toPlan(hops, outPerGas)] : [];
    })
    .sort(comparePlans);
  return { ranked };
}

type Hops = readonly RouteHop[];

/** Runs ways exactly; steps that several of them begin with run once. */
function exactRuns(amountIn: bigint): (way: Way) => Hops | undefined {
  const known = new Map<Way, Hops | undefined>();
  return function run(way): Hops | undefined {
    if (known.has(way)) return known.get(way);
    const before = way.before ? run(way.before) : [];
    const hop = before && runHop(way.step, before.at(-1)?.amountOut ?? amountIn);
    const hops = hop && [...before, hop];
    known.set(way, hops);
    return hops;
  };
}

/** Those that may turn out the best once every amount is rounded as its pool rounds it. */
function contenders(sorted: readonly Way[], net: (way: Way) => number): Way[] {
  const best = sorted[0];
  if (!best) return [];
  const rounding = best.amount * uncertainty(best);
  return sorted.filter((way) => net(way) >= net(best) - rounding).slice(0, MAX_EXACT);
}

/** Ways this close, in parts of the amount, may change places once rounded. */
function uncertainty({ coarseness }: Way): number {
  return FLOAT_NOISE + ROUNDED_UNITS * coarseness;
}

function firstOfEach(ways: readonly Way[], kindOf: (way: Way) => string): Way[] {
  const first = new Map<string, Way>();
  for (const way of ways) {
    const kind = kindOf(way);
    if (!first.has(kind)) first.set(kind, way);
  }
  return [...first.values()].slice(0, MAX_EXACT);
}

/** The paths over two connectors, `x` before `y`, with the most they could pay, best first. */
function threeHopPaths(market: TradeMarket): { x: Address; y: Address; bound: number }[] {
  const { tokenIn, tokenOut } = market.trade;
  const paths: { x: Address; y: Address; bound: number }[] = [];
  for (const x of market.connectors) {
    const start = bestStart(market.hop(tokenIn, x));
    if (start === Infinity) continue;
    for (const y of market.connectors) {
      if (y === x) continue;
      const u = start * bestStart(market.hop(x, y)) * bestStart(market.hop(y, tokenOut));
      const bound = market.amountIn / (u * u);
      if (bound > 0) paths.push({ x, y, bound });
    }
  }
  return paths.sort((a, b) => b.bound - a.bound);
}

/** Ways carried on by one pool that sells `tokenIn`, where they end, for `tokenOut`. */
function onwards(
  market: TradeMarket,
  ways: readonly Way["before"][],
  tokenIn: Address,
  tokenOut: Address,
): Way[] {
  const curves = market.hop(tokenIn, tokenOut);
  const next: Way[] = [];
  for (const before of ways) {
    for (const curve of curves) {
      const way = extend(market, before, curve, { pool: curve.pool, tokenIn, tokenOut });
      if (way) next.push(way);
    }
  }
  return next;
}

function extend(
  { amountIn }: TradeMarket,
  before: Way["before"],
  curve: PoolCurve,
  step: Step,
): Way | undefined {
  const from = before ?? { amount: amountIn, gas: 0, coarseness: 1 / amountIn };
  const amount = outputOf(curve, from.amount);
  if (!(amount > 0)) return undefined;
  const ticksCrossed = ticksCrossedBy(curve, from.amount);
  return {
    before,
    step,
    amount,
    gas: gasWithHop(from.gas, { pool: step.pool, ticksCrossed, emptyWords: 0 }, !before),
    coarseness: from.coarseness + 1 / amount,
  };
}

function outputOf(curve: PoolCurve, input: number): number {
  const amount = outputFor(curve, input);
  // Pools round down, so that less than a unit is nothing.
  if (!(amount >= 1 - FLOAT_NOISE)) return 0;
  if (input >= SMALL && amount >= SMALL) return amount;
  const { pool, zeroForOne } = curve;
  return Number(swapPool(pool, zeroForOne, BigInt(Math.floor(input)))?.amountOut ?? 0n);
}

/**
 * The best ways to a token, best first, without those that pay less than another for at least as
 * much gas: more of a token never buys less of the next.
 */
function undominated(ways: readonly Way[]): Way[] {
  const kept: Way[] = [];
  for (const way of ways.toSorted((a, b) => b.amount - a.amount)) {
    if (kept.length === MAX_WAYS) break;
    const least = way.amount * (1 + uncertainty(way));
    const isBeaten = ({ amount, gas }: Way) => gas <= way.gas && amount > least;
    if (!kept.some(isBeaten)) kept.push(way);
  }
  return kept;
}

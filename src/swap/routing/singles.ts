import type { Address } from "viem";
import { gasWithHop } from "../gasModel.ts";
import { outputFor, type PoolCurve, ticksCrossedBy } from "./curve.ts";
import { runPath, swapPool } from "./execute.ts";
import { comparePlans, type OutPerGas, toPlan } from "./gas.ts";
import { bestStart, type TradeMarket } from "./market.ts";
import type { RoutePlan, Step } from "./plan.ts";

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
  readonly steps: readonly Step[];
  /** What is there after the last step. */
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
  const direct = waysAlong(market, [tokenIn, tokenOut], Infinity);
  const ways = [...direct];
  for (const token of market.connectors) {
    ways.push(...waysAlong(market, [tokenIn, token, tokenOut], MAX_WAYS));
  }
  let bestNet = ways.reduce((most, way) => Math.max(most, net(way)), -Infinity);
  for (const path of threeHopPaths(market)) {
    // A pool never pays more than at its first unit.
    if (path.bound <= bestNet) break;
    const found = waysAlong(market, path.tokens, MAX_WAYS);
    ways.push(...found);
    bestNet = found.reduce((most, way) => Math.max(most, net(way)), bestNet);
  }
  ways.sort((a, b) => net(b) - net(a));
  const chosen = new Set([
    ...contenders(ways, net),
    ...ways.slice(0, SHOWN),
    ...firstOfEach(ways, ({ steps }) => (steps.length > 1 ? "multi" : steps[0]?.pool.venueId)),
  ]);
  const ranked = [...chosen]
    .flatMap(({ steps }) => {
      const hops = runPath(amountIn, steps);
      return hops ? [toPlan(hops, outPerGas)] : [];
    })
    .sort(comparePlans);
  return { ranked };
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

function firstOfEach(ways: readonly Way[], kindOf: (way: Way) => string | undefined): Way[] {
  const first = new Map<string | undefined, Way>();
  for (const way of ways) {
    const kind = kindOf(way);
    if (!first.has(kind)) first.set(kind, way);
  }
  return [...first.values()].slice(0, MAX_EXACT);
}

/** Token paths over two connectors with the most they could pay, best first. */
function threeHopPaths(market: TradeMarket): { tokens: Address[]; bound: number }[] {
  const { tokenIn, tokenOut } = market.trade;
  return market.connectors
    .flatMap((x) =>
      market.connectors
        .filter((y) => y !== x)
        .map((y) => {
          const u =
            bestStart(market.hop(tokenIn, x)) *
            bestStart(market.hop(x, y)) *
            bestStart(market.hop(y, tokenOut));
          return { tokens: [tokenIn, x, y, tokenOut], bound: market.amountIn / (u * u) };
        }),
    )
    .filter(({ bound }) => bound > 0)
    .toSorted((a, b) => b.bound - a.bound);
}

/**
 * The ways along a path of tokens, one pool per hop, without those that pay less than another for
 * at least as much gas: more of a token never buys less of the next.
 */
function waysAlong(market: TradeMarket, tokens: readonly Address[], maxWays: number): Way[] {
  let ways: Way[] = [
    { steps: [], amount: market.amountIn, gas: 0, coarseness: 1 / market.amountIn },
  ];
  for (const [index, tokenIn] of tokens.slice(0, -1).entries()) {
    const tokenOut = tokens[index + 1] ?? tokenIn;
    const curves = market.hop(tokenIn, tokenOut);
    const next = ways.flatMap((way) =>
      curves.flatMap((curve) => extend(way, curve, tokenIn, tokenOut) ?? []),
    );
    ways = maxWays === Infinity ? next : undominated(next).slice(0, maxWays);
  }
  return ways;
}

function extend(way: Way, curve: PoolCurve, tokenIn: Address, tokenOut: Address): Way | undefined {
  const amount = outputOf(curve, way.amount);
  if (!(amount > 0)) return undefined;
  const hop = {
    pool: curve.pool,
    tokenIn,
    tokenOut,
    ticksCrossed: ticksCrossedBy(curve, way.amount),
    emptyWords: 0,
  };
  return {
    steps: [...way.steps, { pool: curve.pool, tokenIn, tokenOut }],
    amount,
    gas: gasWithHop(way.gas, hop, way.steps.length === 0),
    coarseness: way.coarseness + 1 / amount,
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

function undominated(ways: readonly Way[]): Way[] {
  const kept: Way[] = [];
  for (const way of ways.toSorted((a, b) => b.amount - a.amount)) {
    const least = way.amount * (1 + uncertainty(way));
    const isBeaten = ({ amount, gas }: Way) => gas <= way.gas && amount > least;
    if (!kept.some(isBeaten)) kept.push(way);
  }
  return kept;
}

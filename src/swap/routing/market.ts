import type { Address } from "viem";
import type { MarketPool } from "../../market/index.ts";
import { curveOf, outputFor, type PoolCurve } from "./curve.ts";
import { MAX_LEGS } from "./plan.ts";

/** Most pools of one pair that are looked at. */
const MAX_POOLS_PER_PAIR = 16;
/** Most connectors a trade is routed through. */
const MAX_CONNECTORS = 6;

/** Where the planner finds pools, which never change; a market snapshot is one. */
export interface PoolLookup {
  /** Pools of two tokens, in either order. */
  poolsOf(tokenA: Address, tokenB: Address): readonly MarketPool[];
}

/** An exact-input trade. Addresses are checksummed. */
export interface Trade {
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  readonly amountIn: bigint;
}

/** The part of a market one trade can use: bounded lists of candidate pools per hop. */
export interface TradeMarket {
  readonly trade: Trade;
  readonly amountIn: number;
  /** Tokens to pass through, each with pools on at least one side of the trade. */
  readonly connectors: readonly Address[];
  /** Candidates that sell `from` for `to`. */
  hop(from: Address, to: Address): readonly PoolCurve[];
}

/**
 * Collects what a trade can use. Of a pair with too many pools those are kept that pay most for a
 * leg's share of the trade.
 */
export function openMarket(
  lookup: PoolLookup,
  trade: Trade,
  connectors: readonly Address[],
): TradeMarket {
  const { tokenIn, tokenOut } = trade;
  const amountIn = Number(trade.amountIn);
  // Hops of which this trade looks at some pools only, or that have none.
  const hops: HopMap = new Map();
  const knownHops = hopsOf(lookup);
  const hop = (from: Address, to: Address): readonly PoolCurve[] => {
    const all = knownHops.get(from)?.get(to);
    if (all && all.length <= MAX_POOLS_PER_PAIR) return all;
    let found = hops.get(from)?.get(to);
    if (!found) {
      found = candidates(from, all ?? findCurves(lookup, from, to));
      setHop(hops, from, to, found);
    }
    return found;
  };
  const inner = connectors.filter(
    (token) =>
      token !== tokenIn &&
      token !== tokenOut &&
      (hop(tokenIn, token).length > 0 || hop(token, tokenOut).length > 0),
  );
  return { trade, amountIn, connectors: inner.slice(0, MAX_CONNECTORS), hop };

  function candidates(from: Address, curves: readonly PoolCurve[]): readonly PoolCurve[] {
    if (curves.length <= MAX_POOLS_PER_PAIR) return curves;
    const share = expectedAmount(from) / MAX_LEGS;
    const worth = new Map(curves.map((curve) => [curve, payout(curve, share)]));
    return curves
      .toSorted((a, b) => (worth.get(b) ?? 0) - (worth.get(a) ?? 0))
      .slice(0, MAX_POOLS_PER_PAIR);
  }

  /** About how much of a token the trade can bring there. */
  function expectedAmount(token: Address): number {
    if (token === tokenIn) return amountIn;
    return amountIn / bestStart(hop(tokenIn, token)) ** 2;
  }
}

/** Curves by the token sold and the token bought. */
type HopMap = Map<Address, Map<Address, readonly PoolCurve[]>>;

function setHop(hops: HopMap, from: Address, to: Address, curves: readonly PoolCurve[]): void {
  const onwards = hops.get(from);
  if (onwards) onwards.set(to, curves);
  else hops.set(from, new Map([[to, curves]]));
}

/** By lookup, whose pools never change: the curves of every hop that has any. */
const known = new WeakMap<PoolLookup, HopMap>();

function hopsOf(lookup: PoolLookup): HopMap {
  let hops = known.get(lookup);
  if (!hops) known.set(lookup, (hops = new Map()));
  return hops;
}

/** All curves that sell `from` for `to`. */
function findCurves(lookup: PoolLookup, from: Address, to: Address): readonly PoolCurve[] {
  const curves = lookup
    .poolsOf(from, to)
    .map((pool) => curveOf(pool, pool.token0 === from))
    .filter((curve) => curve.count > 0);
  // Hops without pools are as many as callers think of, so they are not kept.
  if (curves.length > 0) setHop(hopsOf(lookup), from, to, curves);
  return curves;
}

/** The best `u` at which any of these pools begins; Infinity where there are none. */
export function bestStart(curves: readonly PoolCurve[]): number {
  let best = Infinity;
  for (const { starts } of curves) best = Math.min(best, starts[0] ?? Infinity);
  return best;
}

function payout(curve: PoolCurve, input: number): number {
  return input < curve.capacity ? outputFor(curve, input) : curve.payout;
}

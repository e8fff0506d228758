import { curveOf } from "./curve.ts";
import { type RouteHop, sellsToken0, type Step } from "./plan.ts";

const PIPS = 1e6;

/**
 * What a route loses against the prices before it, told apart: with `spotOut` the output at those
 * prices without fees, `out / spotOut = (1 − impact) · kept`.
 */
export interface RouteLoss {
  /** Output at the spot prices, without fees, atomic units. */
  readonly spotOut: number;
  /** What the pools' fees leave, as a share of 1. */
  readonly kept: number;
  /** The curves' part of the loss, as a share of 1. */
  readonly impact: number;
}

/** Price of an infinitely small trade without fee: output per input, atomic units. */
export function spotPrice(step: Step): number {
  return curveOf(step.pool, sellsToken0(step)).spot;
}

/** Impact and fee of a trade that went through one step of a route. */
export function hopLoss(step: Step, amountIn: bigint, amountOut: bigint): RouteLoss {
  const spotOut = Number(amountIn) * spotPrice(step);
  const kept = 1 - step.pool.feePips / PIPS;
  return { spotOut, kept, impact: impactOf(amountOut, spotOut * kept) };
}

/**
 * Impact and fee of a whole route: every token's flow goes to the next pools in the proportions in
 * which it was sold, at the prices before the trade.
 * @param hops - in the order of execution
 */
export function routeLoss(hops: readonly RouteHop[]): RouteLoss {
  const { gross, net, amountOut } = isPath(hops) ? flowAlong(hops) : flow(hops);
  return { spotOut: gross, kept: gross > 0 ? net / gross : 1, impact: impactOf(amountOut, net) };
}

function impactOf(amountOut: bigint, spotOutAfterFees: number): number {
  if (!(spotOutAfterFees > 0)) return 0;
  return Math.max(0, 1 - Number(amountOut) / spotOutAfterFees);
}

/** What there is of a token when every pool pays its first unit's price, without and after fees. */
interface Arrived {
  gross: number;
  net: number;
  /** What the hops before really sell of it, in all. */
  sold: number;
}

/** What arrives of the target at the prices before the trade, and what really did. */
interface Flow {
  readonly gross: number;
  readonly net: number;
  readonly amountOut: bigint;
}

/** Whether each hop sells what the one before it buys. */
function isPath(hops: readonly RouteHop[]): boolean {
  return hops.every(({ tokenIn }, index) => index === 0 || tokenIn === hops[index - 1]?.tokenOut);
}

/** The flow along a path, the same as `flow` finds to the last bit. */
function flowAlong(hops: readonly RouteHop[]): Flow {
  let gross = Number(hops[0]?.amountIn ?? 0n);
  let net = gross;
  for (const hop of hops) {
    const price = spotPrice(hop);
    gross *= price;
    net = net * price * (1 - hop.pool.feePips / PIPS);
  }
  return { gross, net, amountOut: hops.at(-1)?.amountOut ?? 0n };
}

function flow(hops: readonly RouteHop[]): Flow {
  const [source, target] = [hops[0]?.tokenIn, hops.at(-1)?.tokenOut];
  const tokens = new Map<string, Arrived>();
  const of = (token: string): Arrived => {
    let found = tokens.get(token);
    if (!found) tokens.set(token, (found = { gross: 0, net: 0, sold: 0 }));
    return found;
  };
  for (const { tokenIn, amountIn } of hops) of(tokenIn).sold += Number(amountIn);
  if (source) Object.assign(of(source), { gross: of(source).sold, net: of(source).sold });
  let amountOut = 0n;
  for (const hop of hops) {
    const [from, to] = [of(hop.tokenIn), of(hop.tokenOut)];
    const paid = (Number(hop.amountIn) / from.sold) * spotPrice(hop);
    to.gross += from.gross * paid;
    to.net += from.net * paid * (1 - hop.pool.feePips / PIPS);
    if (hop.tokenOut === target) amountOut += hop.amountOut;
  }
  const { gross, net } = of(target ?? "");
  return { gross, net, amountOut };
}

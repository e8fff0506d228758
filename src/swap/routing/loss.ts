import { curveOf } from "./curve.ts";
import { type RouteLeg, sellsToken0, type Step } from "./plan.ts";

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
 * Impact and fee of a whole route on the merged graph of its legs: every token's flow goes to the
 * next pools in the proportions the legs have there, at the prices before the trade.
 */
export function routeLoss(legs: readonly RouteLeg[]): RouteLoss {
  const [spotOut, spotOutAfterFees] = [false, true].map((afterFees) => flow(legs, afterFees));
  const [gross = 0, net = 0] = [spotOut, spotOutAfterFees];
  const amountOut = legs.reduce((sum, leg) => sum + leg.amountOut, 0n);
  return { spotOut: gross, kept: gross > 0 ? net / gross : 1, impact: impactOf(amountOut, net) };
}

function impactOf(amountOut: bigint, spotOutAfterFees: number): number {
  if (!(spotOutAfterFees > 0)) return 0;
  return Math.max(0, 1 - Number(amountOut) / spotOutAfterFees);
}

/** What reaches the end when every pool pays its first unit's price. */
function flow(legs: readonly RouteLeg[], afterFees: boolean): number {
  const hops = legs.flatMap((leg) => leg.hops);
  const sold = new Map<string, number>();
  for (const hop of hops) {
    sold.set(hop.tokenIn, (sold.get(hop.tokenIn) ?? 0) + Number(hop.amountIn));
  }
  // What flows into a token at spot prices, over what was really sold of it.
  const inflow = new Map<string, number>();
  const source = legs[0]?.hops[0]?.tokenIn;
  const target = legs[0]?.hops.at(-1)?.tokenOut;
  if (source === undefined || target === undefined) return 0;
  return arriving(target);

  function arriving(token: string): number {
    const known = inflow.get(token);
    if (known !== undefined) return known;
    if (token === source) return sold.get(token) ?? 0;
    let amount = 0;
    for (const hop of hops) {
      if (hop.tokenOut !== token) continue;
      const part = Number(hop.amountIn) / (sold.get(hop.tokenIn) ?? 1);
      const price = spotPrice(hop) * (afterFees ? 1 - hop.pool.feePips / PIPS : 1);
      amount += arriving(hop.tokenIn) * part * price;
    }
    inflow.set(token, amount);
    return amount;
  }
}

import type { Address } from "viem";
import { inputFor, outputFor, type PoolCurve } from "./curve.ts";
import type { Trade } from "./market.ts";
import type { Share } from "./network.ts";
import { type LegOrder, MAX_HOPS } from "./plan.ts";

/** What is left of a share once it is below this part of it is rounding. */
const ROUNDING = 1e-9;
/** More legs than any network of candidates decomposes into. */
const MAX_PATHS = 64;

interface Edge {
  readonly curve: PoolCurve;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  readonly total: number;
  /** Input given to legs so far. */
  given: number;
}

/**
 * Decomposes the flows of a network into legs of one pool per hop.
 *
 * Each path takes the largest rests first and as much as its narrowest pool has left, so that it
 * uses up at least one pool: there are at most as many legs as pools. Legs that share a pool stand
 * on its curve one behind the other, in the order in which they will be executed.
 *
 * @returns legs whose amounts add up to the input exactly: rounded down, the remainder goes to the
 *   largest
 */
export function toLegs(shares: readonly Share[], trade: Trade): LegOrder[] {
  const edges: Edge[] = shares.map(({ curve, tokenIn, tokenOut, input }) => ({
    curve,
    tokenIn,
    tokenOut,
    total: input,
    given: 0,
  }));
  const legs: { input: number; path: readonly Edge[] }[] = [];
  while (legs.length < MAX_PATHS) {
    const path = widestPath(edges, trade);
    if (!path) break;
    legs.push({ input: fill(path), path });
  }
  return inWholeUnits(
    trade.amountIn,
    legs.map(({ input, path }) => ({
      amountIn: BigInt(Math.floor(input)),
      steps: path.map(({ curve: { pool }, tokenIn, tokenOut }) => ({ pool, tokenIn, tokenOut })),
    })),
  );
}

/** From the source on, always the pool with the largest rest. */
function widestPath(edges: readonly Edge[], { tokenIn, tokenOut }: Trade): Edge[] | undefined {
  const path: Edge[] = [];
  let token = tokenIn;
  while (token !== tokenOut) {
    let widest: Edge | undefined;
    for (const edge of edges) {
      if (edge.tokenIn !== token || isUsedUp(edge)) continue;
      if (!widest || rest(edge) > rest(widest)) widest = edge;
    }
    if (!widest || path.length === MAX_HOPS) return undefined;
    path.push(widest);
    token = widest.tokenOut;
  }
  return path;
}

/** Gives a path as much as all its pools have left. @returns its input */
function fill(path: readonly Edge[]): number {
  const inputs: number[] = [];
  let offered = Infinity;
  for (const edge of path) {
    const taken = Math.min(offered, rest(edge));
    inputs.push(taken);
    offered = paidFor(edge, taken);
  }
  // Pools in front of a narrower one give only what that one takes.
  for (let hop = path.length - 2; hop >= 0; hop -= 1) {
    const edge = path[hop];
    const wanted = inputs[hop + 1] ?? 0;
    if (!edge || paidFor(edge, inputs[hop] ?? 0) <= wanted * (1 + ROUNDING)) continue;
    inputs[hop] = inputFor(edge.curve, paidSoFar(edge) + wanted) - edge.given;
  }
  for (const [hop, edge] of path.entries()) edge.given += inputs[hop] ?? 0;
  return inputs[0] ?? 0;
}

function rest(edge: Edge): number {
  return edge.total - edge.given;
}

function isUsedUp(edge: Edge): boolean {
  return rest(edge) <= edge.total * ROUNDING;
}

function paidSoFar(edge: Edge): number {
  return outputFor(edge.curve, Math.min(edge.given, edge.curve.capacity));
}

function paidFor(edge: Edge, input: number): number {
  return outputFor(edge.curve, Math.min(edge.given + input, edge.curve.capacity)) - paidSoFar(edge);
}

/** Gives what rounding down left over to the largest leg; legs of nothing are dropped. */
export function inWholeUnits(amountIn: bigint, legs: readonly LegOrder[]): LegOrder[] {
  const kept = legs.filter((leg) => leg.amountIn > 0n);
  let remainder = amountIn;
  let largest = 0;
  for (const [index, leg] of kept.entries()) {
    remainder -= leg.amountIn;
    if (leg.amountIn > (kept[largest]?.amountIn ?? 0n)) largest = index;
  }
  const leg = kept[largest];
  if (leg) kept[largest] = { ...leg, amountIn: leg.amountIn + remainder };
  return kept;
}

import { runHop, runHops } from "./execute.ts";
import { connected } from "./graph.ts";
import type { Trade } from "./market.ts";
import type { HopOrder, RouteHop } from "./plan.ts";

/** A hop this much smaller than the largest beside it that fails is dropped rather than trimmed. */
const NEGLIGIBLE = 10_000n;
/** What is taken from a hop whose pool turned out a little too small. */
const TRIM = 1_000_000n;
const MAX_ATTEMPTS = 16;
/** Outputs above this have units too small to be worth a search. */
const COARSE_OUTPUT = 10n ** 13n;
/** Trial swaps that the search for single units may take. */
const MAX_TRIALS = 48;

/**
 * Executes hops exactly. One that fails, because its share is too small to pay anything or a
 * rounding beyond what its pool takes, gives way to the others that sell its token.
 *
 * @returns undefined when nothing is left that works
 */
export function execute(
  { tokenIn, tokenOut, amountIn }: Trade,
  wanted: readonly HopOrder[],
): readonly RouteHop[] | undefined {
  let orders = [...wanted];
  for (let attempt = 0; attempt < MAX_ATTEMPTS && orders.length > 0; attempt += 1) {
    const run = runHops(amountIn, orders);
    if ("hops" in run) return run.hops;
    const mayTrim = attempt < MAX_ATTEMPTS / 2;
    orders = connected(giveWay(orders, run.failed, mayTrim), tokenIn, tokenOut);
  }
  return undefined;
}

/** What others then sell more of follows from their proportions. */
function giveWay(orders: readonly HopOrder[], failed: number, mayTrim: boolean): HopOrder[] {
  const failing = orders[failed];
  const beside = orders.filter((order) => order !== failing && order.tokenIn === failing?.tokenIn);
  const largest = beside.reduce((most, { amountIn }) => (amountIn > most ? amountIn : most), 0n);
  const isTrimmed = failing && mayTrim && failing.amountIn * NEGLIGIBLE > largest;
  if (!isTrimmed || beside.length === 0) return orders.filter((order) => order !== failing);
  const trimmed = failing.amountIn - failing.amountIn / TRIM - 1n;
  return orders.map((order) => (order === failing ? { ...order, amountIn: trimmed } : order));
}

/**
 * Moves what one unit of output costs between the largest direct hop and each other one while that
 * pays more: rounding down can leave every pool just short of its next unit.
 */
export function repairUnits(
  { tokenIn, tokenOut, amountIn }: Trade,
  hops: readonly RouteHop[],
): readonly RouteHop[] {
  const isDirect = (hop: RouteHop) => hop.tokenIn === tokenIn && hop.tokenOut === tokenOut;
  const direct = hops.filter(isDirect);
  const amountOut = hops.reduce(
    (sum, hop) => (hop.tokenOut === tokenOut ? sum + hop.amountOut : sum),
    0n,
  );
  if (direct.length < 2 || amountOut === 0n || amountOut >= COARSE_OUTPUT) return hops;
  const unit = amountIn / amountOut + 1n;
  const repaired = moveUnits(direct, unit);
  let next = 0;
  return hops.map((hop) => (isDirect(hop) ? (repaired[next++] ?? hop) : hop));
}

function moveUnits(direct: readonly RouteHop[], unit: bigint): RouteHop[] {
  const hops = [...direct];
  let largest = 0;
  for (const [index, { amountIn }] of hops.entries()) {
    if (amountIn > (hops[largest]?.amountIn ?? 0n)) largest = index;
  }
  let trials = 0;
  // What the largest gives up is tried against one hop after the other, and runs once.
  const given = new Map<bigint, RouteHop | undefined>();
  for (const other of hops.keys()) {
    if (other === largest) continue;
    for (const move of [unit, -unit]) {
      while (trials < MAX_TRIALS && tryMove(other, move)) trials += 1;
      trials += 1;
    }
  }
  return hops;

  function tryMove(other: number, move: bigint): boolean {
    const [from, to] = [hops[largest], hops[other]];
    if (!from || !to) return false;
    const less = givingUp(from, move);
    const more = less && runHop(to, to.amountIn + move);
    if (!more || less.amountOut + more.amountOut <= from.amountOut + to.amountOut) return false;
    [hops[largest], hops[other]] = [less, more];
    given.clear();
    return true;
  }

  function givingUp(from: RouteHop, move: bigint): RouteHop | undefined {
    if (!given.has(move)) given.set(move, runHop(from, from.amountIn - move));
    return given.get(move);
  }
}

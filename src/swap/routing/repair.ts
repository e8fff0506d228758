import { type Run, runLeg, runLegs, sharesPool } from "./execute.ts";
import { inWholeUnits } from "./legs.ts";
import type { LegOrder, RouteLeg } from "./plan.ts";

/** Legs and what they do when executed in this order. */
export interface Executed {
  readonly orders: readonly LegOrder[];
  readonly legs: readonly RouteLeg[];
  readonly amountOut: bigint;
}

/** A leg this much smaller than the largest that fails is dropped rather than trimmed. */
const NEGLIGIBLE = 10_000n;
/** What is taken from a leg whose pool turned out a little too small. */
const TRIM = 1_000_000n;
const MAX_ATTEMPTS = 16;
/** Outputs above this have units too small to be worth a search. */
const COARSE_OUTPUT = 10n ** 13n;
/** Trial executions of one leg that the search for single units may take. */
const MAX_TRIALS = 24;

/**
 * Executes legs exactly. A leg that fails, because its share is too small to pay anything or a
 * rounding beyond what its pool takes, gives way to the largest other leg.
 *
 * @returns undefined when no leg is left that works
 */
export function execute(amountIn: bigint, wanted: readonly LegOrder[]): Executed | undefined {
  let orders = inWholeUnits(amountIn, wanted);
  for (let attempt = 0; attempt < MAX_ATTEMPTS && orders.length > 0; attempt += 1) {
    const run: Run = runLegs(orders);
    if ("legs" in run) return { orders, ...run };
    orders = yieldToLargest(amountIn, orders, run.failedLeg, attempt);
  }
  return undefined;
}

function yieldToLargest(
  amountIn: bigint,
  orders: readonly LegOrder[],
  failed: number,
  attempt: number,
): LegOrder[] {
  const failing = orders[failed]?.amountIn ?? 0n;
  const others = orders.filter((_, index) => index !== failed);
  const largest = others.reduce((most, { amountIn: of }) => (of > most ? of : most), 0n);
  const isTrimmed = attempt < MAX_ATTEMPTS / 2 && failing * NEGLIGIBLE > largest;
  if (!isTrimmed || others.length === 0) return inWholeUnits(amountIn, others);
  const trimmed = failing - failing / TRIM - 1n;
  let isGiven = false;
  return orders.map((order, index) => {
    if (index === failed) return { ...order, amountIn: trimmed };
    if (isGiven || order.amountIn !== largest) return order;
    isGiven = true;
    return { ...order, amountIn: order.amountIn + (failing - trimmed) };
  });
}

/**
 * Moves what one unit of output costs between the largest leg and each other one while that pays
 * more: rounding down can leave every leg just short of its next unit.
 */
export function repairUnits(executed: Executed): Executed {
  const { orders } = executed;
  const isCoarse = executed.amountOut > 0n && executed.amountOut < COARSE_OUTPUT;
  if (orders.length < 2 || !isCoarse || sharesPool(orders)) return executed;
  const total = orders.reduce((sum, { amountIn }) => sum + amountIn, 0n);
  const unit = total / executed.amountOut + 1n;
  const [amounts, legs] = [orders.map(({ amountIn }) => amountIn), [...executed.legs]];
  let trials = 0;
  const largest = amounts.indexOf(amounts.reduce((most, of) => (of > most ? of : most)));
  for (const other of orders.keys()) {
    if (other === largest) continue;
    for (const move of [unit, -unit]) {
      while (trials < MAX_TRIALS && tryMove(other, move)) trials += 1;
      trials += 1;
    }
  }
  return {
    orders: orders.map((order, index) => ({ ...order, amountIn: amounts[index] ?? 0n })),
    legs,
    amountOut: legs.reduce((sum, { amountOut }) => sum + amountOut, 0n),
  };

  function tryMove(other: number, move: bigint): boolean {
    const [from, to] = [orders[largest], orders[other]];
    const [amountFrom, amountTo] = [(amounts[largest] ?? 0n) - move, (amounts[other] ?? 0n) + move];
    if (!from || !to || amountFrom <= 0n || amountTo <= 0n) return false;
    const legFrom = runLeg({ ...from, amountIn: amountFrom }, new Map());
    const legTo = legFrom && runLeg({ ...to, amountIn: amountTo }, new Map());
    if (!legTo) return false;
    const before = (legs[largest]?.amountOut ?? 0n) + (legs[other]?.amountOut ?? 0n);
    if (legFrom.amountOut + legTo.amountOut <= before) return false;
    [amounts[largest], amounts[other]] = [amountFrom, amountTo];
    [legs[largest], legs[other]] = [legFrom, legTo];
    return true;
  }
}

import { runLegs } from "./execute.ts";
import { toPlan } from "./gas.ts";
import type { LegOrder, RoutePlan } from "./plan.ts";

/**
 * What given legs pay when executed in this order; gas is not priced.
 * @returns undefined when a pool cannot take its input
 */
export function priceLegs(orders: readonly LegOrder[]): RoutePlan | undefined {
  const run = runLegs(orders);
  return "legs" in run ? toPlan(run.legs, undefined) : undefined;
}

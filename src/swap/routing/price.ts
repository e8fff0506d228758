import { runHops } from "./execute.ts";
import { toPlan } from "./gas.ts";
import type { HopOrder, RoutePlan } from "./plan.ts";

/**
 * What given hops pay when executed in this order; gas is not priced.
 * @param amountIn - input of the whole route
 * @returns undefined when a pool cannot take its input
 */
export function priceHops(amountIn: bigint, orders: readonly HopOrder[]): RoutePlan | undefined {
  const run = runHops(amountIn, orders);
  return "hops" in run ? toPlan(run.hops, undefined) : undefined;
}

export { gasCost, type GasTerms, type OutPerGas } from "./gas.ts";
export { turnsOf } from "./graph.ts";
export { hopLoss, routeLoss, type RouteLoss } from "./loss.ts";
export type { PoolLookup, Trade } from "./market.ts";
export {
  type HopOrder,
  MAX_DEPTH,
  MAX_HOPS,
  MAX_LEGS,
  type RouteHop,
  type RoutePlan,
  type RouteType,
  type Step,
  typeOf,
} from "./plan.ts";
export { priceHops } from "./price.ts";
export { findRoutes, MAX_ROUTES, type RouteChoice, type RoutingTerms } from "./router.ts";

export { gasCost, type GasTerms, type OutPerGas } from "./gas.ts";
export { hopLoss, routeLoss, type RouteLoss } from "./loss.ts";
export type { PoolLookup, Trade } from "./market.ts";
export {
  type LegOrder,
  MAX_HOPS,
  MAX_LEGS,
  type RouteHop,
  type RouteLeg,
  type RoutePlan,
  type RouteType,
  type Step,
  typeOf,
} from "./plan.ts";
export { priceLegs } from "./price.ts";
export { findRoutes, type RouteChoice, type RoutingTerms } from "./router.ts";

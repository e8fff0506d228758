export { balanceRoutes } from "./routes.ts";
export { type BalanceDependencies, type BalanceService, createBalanceService } from "./service.ts";

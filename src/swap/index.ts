export { swapRoutes } from "./routes.ts";
export { createSwapService, type SwapDependencies, type SwapService } from "./service.ts";

export { pricesRoutes } from "./routes.ts";
export { createPricesService, type PricesDependencies, type PricesService } from "./service.ts";

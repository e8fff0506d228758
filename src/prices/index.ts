export { pricesRoutes } from "./routes.ts";
export {
  createPricesService,
  type PricesDependencies,
  type PricesService,
  type PricesStatus,
} from "./service.ts";

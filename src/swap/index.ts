export {
  type AuditDifference,
  type AuditObserver,
  type AuditOutcome,
  createQuoteAuditor,
  type QuoteAuditor,
} from "./audit.ts";
export { createMarketReader } from "./marketReader.ts";
export { swapRoutes } from "./routes.ts";
export { createSwapService, type SwapDependencies, type SwapService } from "./service.ts";

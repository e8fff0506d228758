export { bridgeRoutes } from "./routes.ts";
export { type BridgeService, createBridge } from "./service.ts";

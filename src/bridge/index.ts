export { type BridgeAdmin, createBridgeAdmin } from "./admin.ts";
export { type BridgeService, createBridge } from "./bridge.ts";
export { bridgeCommand, BridgeUsageError } from "./command.ts";
export { bridgeRoutes } from "./routes.ts";

export { directRpc } from "./http.ts";
export { rpcRoutes } from "./routes.ts";
export { createRpcService, type RpcService, type RpcServiceOptions } from "./service.ts";
export { createRpcSockets, type RpcSockets, type RpcSocketsOptions } from "./ws.ts";

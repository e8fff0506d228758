import { Elysia } from "elysia";
import { type Access, accessRoutes, errorHandler, gate } from "./access/index.ts";
import { balanceRoutes, type BalanceService } from "./balance/index.ts";
import { bridgeRoutes, type BridgeService } from "./bridge/index.ts";
import type { Config } from "./config/index.ts";
import { consoleRoutes, type DeveloperConsole } from "./console/index.ts";
import { docsRoutes, systemRoutes } from "./docs/index.ts";
import { pricesRoutes, type PricesService } from "./prices/index.ts";
import { rpcRoutes, type RpcService, type RpcSockets } from "./rpc/index.ts";
import { swapRoutes, type SwapService } from "./swap/index.ts";
import type { Logger, Metrics } from "./telemetry/index.ts";

/** Everything the HTTP surface calls. */
export interface AppDependencies {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly access: Access;
  readonly swap: SwapService;
  readonly rpc: RpcService;
  readonly rpcSockets: RpcSockets;
  readonly bridge: BridgeService;
  readonly prices: PricesService;
  readonly balance: BalanceService;
  readonly console: DeveloperConsole;
  /** False while the process drains. */
  readonly ready: () => boolean;
}

/** Above every limit of a route, so that routes answer what is too large themselves. */
const MAX_REQUEST_BYTES = 1024 ** 3;

/** The whole HTTP surface. Does no I/O and starts nothing; the caller listens. */
export function createApp(deps: AppDependencies) {
  const limits = { maxBodyBytes: deps.config.http.maxBodyBytes };
  const api = new Elysia({ name: "api" })
    .use(swapRoutes(deps.swap, limits))
    .use(rpcRoutes(deps.rpc, deps.rpcSockets, limits))
    .use(bridgeRoutes(deps.bridge, limits))
    .use(pricesRoutes(deps.prices))
    .use(
      balanceRoutes(deps.balance, { ...limits, exampleRpcUrl: deps.config.balance.exampleRpcUrl }),
    )
    .use(accessRoutes(deps.access));

  const { access, config, log, metrics } = deps;
  return new Elysia({
    // Only the front reaches it, which shares the port that is known outside.
    serve: { reusePort: false, maxRequestBodySize: MAX_REQUEST_BYTES },
    // Connections ask their peers for signs of life themselves.
    websocket: { maxPayloadLength: limits.maxBodyBytes, idleTimeout: 0, sendPings: false },
  })
    .onError(errorHandler(log))
    .use(gate(access, config, metrics.request))
    .use(api)
    .use(consoleRoutes(deps.console))
    .use(docsRoutes(api))
    .use(
      systemRoutes({
        ready: deps.ready,
        metrics: deps.metrics.render,
        metricsContentType: deps.metrics.contentType,
      }),
    );
}

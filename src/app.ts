import { Elysia } from "elysia";
import { type Access, accessRoutes, directRoutes, errorHandler, gate } from "./access/index.ts";
import { balanceRoutes, type BalanceService } from "./balance/index.ts";
import { bridgeRoutes, type BridgeService } from "./bridge/index.ts";
import type { Config } from "./config/index.ts";
import { consoleRoutes, type DeveloperConsole } from "./console/index.ts";
import { docsRoutes, systemRoutes } from "./docs/index.ts";
import { pricesRoutes, type PricesService } from "./prices/index.ts";
import { directRpc, RPC_PATH, rpcRoutes, type RpcService, type RpcSockets } from "./rpc/index.ts";
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
  const direct = directRoutes({ access, config, log, observer: metrics.request });
  return new Elysia({
    serve: {
      reusePort: config.listen.workers > 1,
      maxRequestBodySize: 1024 ** 3,
      routes: { [RPC_PATH]: { POST: direct("rpc", directRpc(deps.rpc, limits)) } },
    },
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

export { createLogger, type Logger, redact, silentLogger } from "./logger.ts";
export { observeMarket } from "./market.ts";
export { createMetrics, type GaugeRow, liveGauge, type Metrics } from "./metrics.ts";
export { observePrices } from "./prices.ts";
export { observeReloads, observeReplicas } from "./replicas.ts";
export { observeSockets } from "./sockets.ts";
export { observeUpstreams } from "./upstreams.ts";

export { createLogger, type Logger, redact, silentLogger } from "./logger.ts";
export { createMetrics, type GaugeRow, liveGauge, type Metrics } from "./metrics.ts";
export { observeUpstreams } from "./upstreams.ts";

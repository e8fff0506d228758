import { liveGauge, type Metrics } from "./metrics.ts";

/**
 * Gauges of the open WebSocket connections.
 * @param counts - live state, read when metrics are scraped
 */
export function observeSockets(
  { registry }: Metrics,
  counts: () => { readonly sockets: number; readonly subscriptions: number },
): void {
  liveGauge(
    registry,
    { name: "causeway_rpc_sockets", help: "Open WebSocket connections.", labelNames: [] },
    () => [{ labels: {}, value: counts().sockets }],
  );
  liveGauge(
    registry,
    { name: "causeway_rpc_subscriptions", help: "Open subscriptions.", labelNames: [] },
    () => [{ labels: {}, value: counts().subscriptions }],
  );
}

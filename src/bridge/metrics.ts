import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { BridgeStore } from "../db/index.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../telemetry/index.ts";
import type { Transfer } from "./network.ts";
import type { TransferState } from "./transition.ts";

const DURATION_BUCKETS_SECONDS = [1, 5, 15, 30, 60, 120, 300, 600, 1_200, 3_600, 14_400, 86_400];
const MICRO = 1_000_000;

/** Registers the bridge's metrics and gives the listener that feeds them. */
export function bridgeMetrics(
  registry: Registry,
  { store, log, clock }: { store: BridgeStore; log: Logger; clock: Clock },
): (transfer: Transfer, state: TransferState) => void {
  const reached = new Counter({
    name: "causeway_bridge_transfers_total",
    help: "Bridge transfers that reached a state.",
    labelNames: ["state"],
    registers: [registry],
  });
  const duration = new Histogram({
    name: "causeway_bridge_transfer_duration_seconds",
    help: "Time from the request to the proven mint.",
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [registry],
  });
  const volume = new Counter({
    name: "causeway_bridge_completed_usdc_total",
    help: "USDC minted to recipients.",
    registers: [registry],
  });
  const fees = new Counter({
    name: "causeway_bridge_fees_usdc_total",
    help: "USDC burned on top of amounts, by who got it: Circle, or the recipient where it was not taken.",
    labelNames: ["to"],
    registers: [registry],
  });
  const standing = new Gauge({
    name: "causeway_bridge_transfers",
    help: "Bridge transfers by the state they are in.",
    labelNames: ["state"],
    registers: [],
    async collect() {
      this.reset();
      for (const { state, count } of await store.counts()) this.set({ state }, count);
    },
  });
  registry.registerMetric(standing);
  return (transfer, state) => {
    reached.inc({ state });
    log.info({ transfer: transfer.id, state }, "bridge transfer");
    if (state !== "completed") return;
    duration.observe((clock.now() - transfer.createdAt) / 1_000);
    volume.inc(Number(transfer.amount) / MICRO);
    const taken = transfer.feeExecuted ?? 0n;
    fees.inc({ to: "circle" }, Number(taken) / MICRO);
    fees.inc({ to: "recipient" }, Number(transfer.maxFee - taken) / MICRO);
  };
}

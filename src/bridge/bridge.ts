import type { ChainRegistry } from "../chains/index.ts";
import type { Config } from "../config/index.ts";
import type { BridgeStore } from "../db/index.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import type { Logger, Metrics } from "../telemetry/index.ts";
import type { UpstreamPool } from "../upstream/index.ts";
import { createAttestationClient } from "./attestation/client.ts";
import { createFollower } from "./follow.ts";
import { bridgeMetrics } from "./metrics.ts";
import { createBridgeNetworks } from "./networks.ts";
import { readOperatorKeys } from "./operator.ts";
import { createTransferService, type TransferService } from "./service.ts";
import type { EdgeListener } from "./steps/step.ts";
import { createWorker } from "./worker.ts";

export interface BridgeDependencies {
  readonly chains: ChainRegistry;
  readonly upstream: Pick<UpstreamPool, "transport" | "call">;
  readonly store: BridgeStore;
  readonly config: Config["bridge"];
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock?: Clock;
  /** Called at every point a process may die at. */
  readonly onEdge?: EdgeListener;
}

/** USDC transfers over CCTP V2. */
export interface BridgeService extends TransferService {
  /** Starts to follow unfinished transfers; without an operator key there is nothing to start. */
  start(): void;
  stop(): Promise<void>;
}

/** Slack of the attestation worker's pace, so that the budget has refilled when it comes. */
const GAP_SLACK_MS = 2;

/**
 * The bridge of this process.
 * @throws ConfigError when the operator key file cannot be used
 */
export function createBridge(deps: BridgeDependencies): BridgeService {
  const { chains, store, config, log, clock = systemClock, onEdge = () => {} } = deps;
  const keys = readOperatorKeys(config.operatorKeyFile, log);
  const attestation = createAttestationClient(config.attestation, clock);
  const shared = { chains, store, clock, log, config, attestation, onEdge };
  const onState = bridgeMetrics(deps.metrics.registry, { store, log, clock });
  if (!keys) {
    const service = createTransferService({ ...shared, operator: undefined });
    return { ...service, start() {}, stop: async () => {} };
  }

  const networks = createBridgeNetworks({
    chains,
    upstream: deps.upstream,
    store,
    clock,
    keys,
    replaceAfterMs: config.replaceAfterMs,
    onEdge,
  });
  const follower = createFollower({
    store,
    clock,
    attestation,
    network: networks.get,
    chain: (chainId) => networks.get(chainId).chain,
    forwardTimeoutMs: config.forwardTimeoutMs,
    pace: { chain: config.chainPace, attestation: config.attestation.pace },
    onState,
    onEdge,
  });
  const worker = createWorker({
    store,
    clock,
    log,
    follower,
    signer: networks.evmOperator.toLowerCase(),
    pollMs: config.pollMs,
    leaseMs: config.leaseMs,
    retryMs: config.retryMs,
    attestationGapMs: 1_000 / config.attestation.requestsPerSecond + GAP_SLACK_MS,
    isResting: attestation.isResting,
  });
  const service = createTransferService({ ...shared, operator: { networks, follower } });
  return { ...service, start: worker.start, stop: worker.stop };
}

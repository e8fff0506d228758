import type { BridgeStore } from "../db/index.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../telemetry/index.ts";
import type { Follower } from "./follow.ts";
import type { TransferState } from "./transition.ts";

export interface WorkerDependencies {
  readonly store: BridgeStore;
  readonly clock: Clock;
  readonly log: Logger;
  readonly follower: Follower;
  /** Names the lease: one worker per operator wallet, over all processes. */
  readonly signer: string;
  readonly pollMs: number;
  readonly leaseMs: number;
  /** After a failed step the transfer is looked at again after this long. */
  readonly retryMs: number;
  /** Transfers waiting for the attestation service are taken up one by one at this pace. */
  readonly attestationGapMs: number;
  /** The attestation service is not asked now. */
  readonly isResting: () => boolean;
}

/** Follows every unfinished transfer while this process holds the lease. */
export interface Worker {
  start(): void;
  /** Stops taking transfers up and waits for the steps under way. */
  stop(): Promise<void>;
}

/** Transfers worked on at once. */
const MAX_IN_FLIGHT = 32;
/** Completed transfers taken up at once, for what they left behind. */
const MAX_TIDIED = 4;
const CHAIN_STATES: readonly TransferState[] = [
  "created",
  "pulling",
  "funded",
  "signed",
  "burning",
  "minting",
];

/** The worker of this process. Transfers are taken up from their rows, so a restart loses none. */
export function createWorker(deps: WorkerDependencies): Worker {
  const { store, clock, log, follower } = deps;
  const owner = crypto.randomUUID();
  const lease = `bridge:${deps.signer}`;
  const inFlight = new Map<string, Promise<void>>();
  let stopping: AbortController | undefined;
  let loop: Promise<unknown> | undefined;

  async function step(id: string): Promise<void> {
    try {
      await follower.drive(id);
    } catch (error) {
      log.warn({ transfer: id, error }, "a bridge transfer could not be taken further");
      const now = clock.now();
      await store.note(id, { nextCheckAt: now + deps.retryMs }, now);
    }
  }

  function takeUp(id: string): void {
    const work = step(id)
      .catch((error: unknown) => log.error({ transfer: id, error }, "bridge store failed"))
      .finally(() => inFlight.delete(id));
    inFlight.set(id, work);
  }

  async function takeUpDue(states: readonly TransferState[], most: number): Promise<void> {
    const limit = Math.min(most, MAX_IN_FLIGHT - inFlight.size);
    if (limit <= 0) return;
    for (const { id } of await store.due(states, clock.now(), limit)) {
      if (!inFlight.has(id)) takeUp(id);
    }
  }

  let holdsLease = false;
  async function tick(): Promise<void> {
    try {
      holdsLease = await store.acquireLease(lease, owner, clock.now(), deps.leaseMs);
    } catch (error) {
      // Who cannot ask does not know, and another may have it by now.
      holdsLease = false;
      throw error;
    }
    if (!holdsLease) return;
    await takeUpDue(CHAIN_STATES, MAX_IN_FLIGHT);
    await takeUpDue(["completed"], MAX_TIDIED);
  }

  async function tickAttestation(): Promise<void> {
    if (!holdsLease) return;
    // Mints need no request; only what a check may ask for keeps to the pace.
    await takeUpDue(deps.isResting() ? ["attested"] : ["attested", "burned"], 1);
  }

  async function repeat(work: () => Promise<void>, gapMs: number, signal: AbortSignal) {
    while (!signal.aborted) {
      try {
        await work();
        await clock.sleep(gapMs, signal);
      } catch (error) {
        if (signal.aborted) return;
        log.error({ error }, "the bridge worker failed; it goes on");
        await clock.sleep(deps.retryMs, signal).catch(() => undefined);
      }
    }
  }

  return {
    start() {
      if (stopping) return;
      stopping = new AbortController();
      const { signal } = stopping;
      loop = Promise.all([
        repeat(tick, deps.pollMs, signal),
        repeat(tickAttestation, deps.attestationGapMs, signal),
      ]);
    },
    async stop() {
      stopping?.abort();
      await loop;
      await Promise.all(inFlight.values());
      if (stopping) await store.releaseLease(lease, owner);
      stopping = undefined;
    },
  };
}

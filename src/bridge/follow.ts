import { SingleFlight } from "../lib/singleFlight.ts";
import type { Transfer } from "./network.ts";
import { pauseMs } from "./pace.ts";
import { createAttestSteps } from "./steps/attest.ts";
import { createMintStep } from "./steps/mint.ts";
import { createSourceSteps } from "./steps/source.ts";
import {
  createStepActions,
  LATER,
  type Outcome,
  type Step,
  type StepDependencies,
} from "./steps/step.ts";
import { createTidyStep } from "./steps/tidy.ts";
import type { TransferState } from "./transition.ts";

/** Brings transfers forward, one step after the other, from whatever their row says. */
export interface Follower {
  /**
   * Does what can be done for a transfer now. Two calls for the same transfer are one.
   * @throws when a node or the database fails; the row says where to go on
   */
  drive(id: string): Promise<void>;
  /** As `drive`, until the first transactions were given to the network: no block is waited for. */
  launch(id: string): Promise<void>;
}

/** More steps than a transfer has, so that a fault here cannot loop for ever. */
const MAX_STEPS = 32;
/** Pause of a transfer for which no request was left. */
const LATER_MS = 250;

/** See README.md beside this file for the states and what holds in each. */
export function createFollower(deps: StepDependencies): Follower {
  const { store, clock } = deps;
  const running = new SingleFlight<void>();
  const actions = createStepActions(deps);
  const source = createSourceSteps(deps, actions);
  const attest = createAttestSteps(deps, actions);
  const followMint = createMintStep(deps, actions, attest);

  const steps: Readonly<Record<TransferState, Step>> = {
    created: (transfer) =>
      transfer.authorization ? source.startPull(transfer) : source.startBurn(transfer),
    pulling: source.followPull,
    funded: source.startBurn,
    signed: source.sendBurn,
    burning: source.followBurn,
    burned: attest.followAttestation,
    attested: followMint,
    minting: followMint,
    completed: createTidyStep(deps, actions),
    failed: async () => LATER,
  };

  async function pause(transfer: Transfer, outcome: Outcome & { kind: "wait" }): Promise<void> {
    const now = clock.now();
    const checks = transfer.checks + 1;
    const pace = outcome.pace ?? deps.pace.chain;
    const nextCheckAt = now + pauseMs(pace, now - transfer.stateAt);
    const changes = { attention: null, ...outcome.changes };
    await store.note(transfer.id, { ...changes, checks, nextCheckAt }, now);
  }

  async function run(id: string, isEnough: (state: TransferState) => boolean): Promise<void> {
    for (let step = 0; step < MAX_STEPS; step++) {
      const transfer = (await store.find(id)) as Transfer | undefined;
      if (!transfer || isEnough(transfer.state)) return;
      const outcome = await steps[transfer.state](transfer);
      if (outcome.kind === "wait") return pause(transfer, outcome);
      if (outcome.kind === "moved") continue;
      const now = clock.now();
      const nextCheckAt = outcome.kind === "rest" ? outcome.untilMs : now + LATER_MS;
      return store.note(id, { nextCheckAt }, now);
    }
  }

  return {
    drive: (id) => running.run(id, () => run(id, (state) => state === "failed")),
    launch: (id) => running.run(id, () => run(id, isSent)),
  };
}

function isSent(state: TransferState): boolean {
  return state !== "created" && state !== "signed" && state !== "pulling";
}

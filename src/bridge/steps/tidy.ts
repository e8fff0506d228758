import { attestedOf } from "./attested.ts";
import {
  hashesOf,
  type Outcome,
  type Step,
  type StepActions,
  type StepDependencies,
} from "./step.ts";

/** Never again, as a time: the year 9999. */
const NEVER_MS = 253_402_300_799_000;
/** After a refusal the rent is asked for again much later; it does not run away. */
const REFUSED_PAUSE_MS = 86_400_000;

/**
 * The step of a completed transfer: taking back the rent of what the burn left on its network,
 * where there is any, once the network gives it back.
 */
export function createTidyStep(deps: StepDependencies, actions: StepActions): Step {
  const { clock, store } = deps;

  /** Undefined for one that the registry has no more: what is completed needs it no more. */
  function networkOf(chainId: number) {
    try {
      return deps.network(chainId);
    } catch {
      return undefined;
    }
  }

  return async (transfer): Promise<Outcome> => {
    const network = networkOf(transfer.fromChainId);
    if (network?.reclaimAfterMs === undefined) return { kind: "rest", untilMs: NEVER_MS };
    const untilMs = transfer.stateAt + network.reclaimAfterMs;
    if (clock.now() < untilMs) return { kind: "rest", untilMs };
    const settled = await network.settle(transfer, "reclaim");
    if (settled.kind === "done") return { kind: "rest", untilMs: NEVER_MS };
    if (settled.kind === "waiting") return { kind: "wait" };
    if (settled.kind === "reverted") {
      return { kind: "rest", untilMs: clock.now() + REFUSED_PAUSE_MS };
    }
    const transactions = await network.signReclaim(transfer, attestedOf(transfer));
    if (transactions.length === 0) return { kind: "rest", untilMs: NEVER_MS };
    for (const transaction of transactions) {
      await store.addTransaction(transaction, {
        transferId: transfer.id,
        at: clock.now(),
        fromState: transfer.state,
        toState: transfer.state,
        event: "reclaimSigned",
        detail: hashesOf([transaction]),
      });
    }
    await actions.send(transfer, ["reclaim"]);
    return { kind: "wait" };
  };
}

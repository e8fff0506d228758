import type { Attested, Transfer } from "../network.ts";
import type { AttestSteps } from "./attest.ts";
import { attestedOf } from "./attested.ts";
import {
  hashesOf,
  type Outcome,
  type Step,
  type StepActions,
  type StepDependencies,
  waitFor,
} from "./step.ts";

/** The step of a transfer that is attested or minting: the forwarder's mint, ours or anyone's. */
export function createMintStep(
  deps: StepDependencies,
  actions: StepActions,
  { ask, renew }: Pick<AttestSteps, "ask" | "renew">,
): Step {
  const { clock, onEdge } = deps;

  async function complete(transfer: Transfer, hash: string): Promise<Outcome> {
    onEdge("mint seen", transfer.id);
    return actions.move(transfer, "minted", { mintHash: hash, delayReason: null }, { hash });
  }

  async function followForwarder(transfer: Transfer, attested: Attested): Promise<Outcome> {
    const network = deps.network(transfer.toChainId);
    const answer = await ask(transfer);
    if (answer && "kind" in answer) return answer;
    const hash = await network.findMint(transfer, attested, answer?.forwardTxHash);
    if (hash) return complete(transfer, hash);
    if (answer?.forwardState === "FAILED") return startMint(transfer, attested);
    return { kind: "wait", pace: deps.pace.attestation };
  }

  /** @param old - hash of the mint before, which did not succeed */
  async function startMint(transfer: Transfer, attested: Attested, old?: string): Promise<Outcome> {
    const network = deps.network(transfer.toChainId);
    const trial = await network.tryMint(transfer, attested);
    if (trial.kind === "expired") return renew(transfer, attested);
    if (trial.kind === "used") return { kind: "wait" };
    if (trial.kind === "refused") {
      return { kind: "wait", changes: { attention: `the mint is refused: ${trial.reason}` } };
    }
    const sign = () => network.signMint(transfer, attested);
    if (transfer.state === "minting") {
      const why = "the mint before did not succeed";
      return actions.signAgain(transfer, ["mint"], old, sign, why);
    }
    const transactions = await sign();
    onEdge("mint signed", transfer.id);
    return actions.move(transfer, "mintSigned", {}, hashesOf(transactions), transactions);
  }

  async function followOwn(transfer: Transfer, attested: Attested): Promise<Outcome> {
    const network = deps.network(transfer.toChainId);
    const settled = await network.settle(transfer, "mint");
    onEdge("mint settled", transfer.id);
    const hint = settled.kind === "done" ? settled.hash : undefined;
    const hash = await network.findMint(transfer, attested, hint);
    if (hash) return complete(transfer, hash);
    if (settled.kind === "waiting" || settled.kind === "done") return waitFor(settled);
    return startMint(transfer, attested, settled.hash);
  }

  return async (transfer) => {
    const attested = attestedOf(transfer);
    if (transfer.state !== "attested") return followOwn(transfer, attested);
    const found = await deps.network(transfer.toChainId).findMint(transfer, attested);
    if (found) return complete(transfer, found);
    const waitedMs = clock.now() - transfer.stateAt;
    const forwards = transfer.useForwarder && waitedMs < deps.forwardTimeoutMs;
    return forwards ? followForwarder(transfer, attested) : startMint(transfer, attested);
  };
}

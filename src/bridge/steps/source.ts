import type { Transfer } from "../network.ts";
import { cctpOf } from "../words.ts";
import {
  hashesOf,
  type Outcome,
  type Step,
  type StepActions,
  type StepDependencies,
  waitFor,
} from "./step.ts";

/** The steps on the source network: taking the sender's funds, and the burn. */
export interface SourceSteps {
  readonly startPull: Step;
  readonly followPull: Step;
  readonly startBurn: Step;
  readonly sendBurn: Step;
  readonly followBurn: Step;
}

const NONCE_TAKEN = "the nonce was used by another transaction";

export function createSourceSteps(deps: StepDependencies, actions: StepActions): SourceSteps {
  const { onEdge } = deps;
  const { move, send, signAgain } = actions;

  const signBurn = (transfer: Transfer) => {
    const { domain } = cctpOf(deps.chain(transfer.toChainId));
    return deps.network(transfer.fromChainId).signBurn(transfer, domain);
  };
  const signPull = (transfer: Transfer) => deps.network(transfer.fromChainId).signPull(transfer);

  async function startBurn(transfer: Transfer): Promise<Outcome> {
    const transactions = await signBurn(transfer);
    const hash = transactions.at(-1)?.hash ?? null;
    const changes = transfer.transactionHash === null ? { transactionHash: hash } : {};
    onEdge("burn signed", transfer.id);
    return move(transfer, "burnSigned", changes, hashesOf(transactions), transactions);
  }

  async function startPull(transfer: Transfer): Promise<Outcome> {
    const transactions = await signPull(transfer);
    const changes = { transactionHash: transactions.at(-1)?.hash ?? null };
    onEdge("pull signed", transfer.id);
    return move(transfer, "pullSigned", changes, hashesOf(transactions), transactions);
  }

  async function followPull(transfer: Transfer): Promise<Outcome> {
    const settled = await deps.network(transfer.fromChainId).settle(transfer, "pull");
    onEdge("pull settled", transfer.id);
    if (settled.kind === "done") return move(transfer, "pulled", {}, { hash: settled.hash });
    if (settled.kind === "reverted") {
      return move(transfer, "abandoned", {}, { reason: "the authorization was refused on chain" });
    }
    if (settled.kind === "waiting") return waitFor(settled);
    return signAgain(transfer, ["pull"], settled.hash, () => signPull(transfer), NONCE_TAKEN);
  }

  /** The sender's funds are with us, so the transfer goes on as soon as a burn can succeed. */
  async function burnAgain(transfer: Transfer, reverted: string): Promise<Outcome> {
    const { usdc, paysGas, refusal } = await deps.network(transfer.fromChainId).wallet();
    if (refusal || !paysGas || usdc < transfer.amount + transfer.maxFee) {
      const why = refusal ?? "the operator's funds do not suffice";
      return { kind: "wait", changes: { attention: `the burn ${reverted} reverted: ${why}` } };
    }
    const sign = () => signBurn(transfer);
    return signAgain(transfer, ["approve", "burn"], reverted, sign, "the burn reverted");
  }

  async function sendBurn(transfer: Transfer): Promise<Outcome> {
    try {
      await send(transfer, ["approve", "burn"]);
    } catch {
      // A process before this one may have sent it; by now it may be in a block, or impossible.
      const settled = await deps.network(transfer.fromChainId).settle(transfer, "burn");
      if (settled.kind === "waiting" && settled.attention) return waitFor(settled);
    }
    return move(transfer, "broadcast", {}, {});
  }

  async function followBurn(transfer: Transfer): Promise<Outcome> {
    const network = deps.network(transfer.fromChainId);
    const settled = await network.settle(transfer, "burn");
    if (settled.kind === "done") {
      const messageIndex = await network.messageIndex(transfer, settled.hash);
      onEdge("burn seen", transfer.id);
      if (messageIndex === undefined) return { kind: "wait" };
      const { hash } = settled;
      return move(transfer, "burned", { burnHash: hash, messageIndex }, { hash, messageIndex });
    }
    if (settled.kind === "reverted") {
      if (transfer.authorization) return burnAgain(transfer, settled.hash);
      return move(transfer, "abandoned", {}, { reason: "the burn reverted", hash: settled.hash });
    }
    if (settled.kind === "lost") {
      const sign = () => signBurn(transfer);
      return signAgain(transfer, ["approve", "burn"], settled.hash, sign, NONCE_TAKEN);
    }
    // A burn waits for its allowance; what holds that up must be sent or replaced as well.
    const approval = await network.settle(transfer, "approve");
    return waitFor(approval.kind === "waiting" ? { ...settled, ...approval } : settled);
  }

  return {
    startPull,
    followPull,
    startBurn,
    sendBurn,
    followBurn,
  };
}

import type { Hex } from "viem";
import type { TransferChanges } from "../../db/index.ts";
import type { AttestedMessage } from "../attestation/answer.ts";
import { checkMessage, type ExpectedMessage, type MessageCheck } from "../messageCheck.ts";
import type { Attested, Transfer } from "../network.ts";
import { addressWord, cctpOf } from "../words.ts";
import {
  LATER,
  MOVED,
  type Outcome,
  type Step,
  type StepActions,
  type StepDependencies,
} from "./step.ts";

/** The steps that ask the attestation service. */
export interface AttestSteps {
  readonly followAttestation: Step;
  /** Takes a fresh signature over a message that expired. */
  renew(transfer: Transfer, attested: Attested): Promise<Outcome>;
  /** Our message among those of the burn, as the service gives it now; or why it cannot be asked. */
  ask(transfer: Transfer): Promise<AttestedMessage | Outcome | undefined>;
}

export function createAttestSteps(deps: StepDependencies, actions: StepActions): AttestSteps {
  const { store, clock, attestation, onEdge } = deps;

  const wait = (changes: TransferChanges): Outcome => {
    return { kind: "wait", changes, pace: deps.pace.attestation };
  };

  async function ask(transfer: Transfer): Promise<AttestedMessage | Outcome | undefined> {
    const from = deps.chain(transfer.fromChainId);
    const asked = await attestation.messages(from, transfer.burnHash ?? "");
    if (asked.kind === "later") return LATER;
    if (asked.kind === "unavailable") return wait({ attention: asked.reason });
    return asked.value[transfer.messageIndex ?? 0];
  }

  /** Compares with our burn; its sender is who signed it, whoever signs now. */
  async function check(
    transfer: Transfer,
    message: Hex,
    eventNonce: string | undefined,
  ): Promise<MessageCheck> {
    const burns = await store.transactions(transfer.id);
    const burn = burns.find(({ hash }) => hash === transfer.burnHash);
    if (!burn) throw new Error("the burn is none of the transfer's transactions");
    return checkMessage(message, expectedMessage(deps.chain, transfer, burn.signer), eventNonce);
  }

  async function followAttestation(transfer: Transfer): Promise<Outcome> {
    const answer = await ask(transfer);
    if (answer && "kind" in answer) return answer;
    if (!answer) {
      // Not indexed yet is normal; a burn that left its block again is not.
      const index = await deps
        .network(transfer.fromChainId)
        .messageIndex(transfer, transfer.burnHash ?? "");
      if (index === undefined) await actions.send(transfer, ["approve", "burn"]);
      return wait({});
    }
    const { message, attestation: signatures, eventNonce, delayReason } = answer;
    if (!message || !signatures) return wait({ delayReason });
    onEdge("attestation seen", transfer.id);
    const checked = await check(transfer, message, eventNonce);
    if (!checked.ok) {
      return wait({ attention: `the attested message is not ours: ${checked.wrong.join(", ")}` });
    }
    const { feeExecuted } = checked.message.body;
    const changes = { message, attestation: signatures, feeExecuted, delayReason };
    const detail = {
      nonce: checked.message.nonce,
      feeExecuted: String(feeExecuted),
      // Goes to the recipient with the mint.
      feeLeft: String(transfer.maxFee - feeExecuted),
      delayReason,
    };
    return actions.move(transfer, "attested", changes, detail);
  }

  async function renew(transfer: Transfer, attested: Attested): Promise<Outcome> {
    const answer = await ask(transfer);
    if (answer && "kind" in answer) return answer;
    const { message, attestation: signatures, eventNonce } = answer ?? {};
    if (message && signatures && message !== attested.bytes) {
      const checked = await check(transfer, message, eventNonce);
      if (checked.ok) {
        const { feeExecuted } = checked.message.body;
        const at = clock.now();
        await store.apply({
          id: transfer.id,
          from: transfer.state,
          to: transfer.state,
          event: "attestedAgain",
          at,
          changes: { message, attestation: signatures, feeExecuted, nextCheckAt: at },
          detail: { nonce: checked.message.nonce },
        });
        return MOVED;
      }
    }
    const from = deps.chain(transfer.fromChainId);
    const asked = await attestation.reattest(from, attested.message.nonce);
    if (asked.kind === "later") return LATER;
    return wait({ attention: "the attestation expired; asked for a new one" });
  }

  return { followAttestation, renew, ask };
}

/** What the attested message of a transfer must say. */
function expectedMessage(
  chain: StepDependencies["chain"],
  transfer: Transfer,
  signer: string,
): ExpectedMessage {
  const from = cctpOf(chain(transfer.fromChainId));
  const to = cctpOf(chain(transfer.toChainId));
  return {
    sourceDomain: from.domain,
    destinationDomain: to.domain,
    sender: addressWord(from.chain.kind, from.tokenMessenger),
    recipient: addressWord(to.chain.kind, to.tokenMessenger),
    minFinalityThreshold: transfer.minFinalityThreshold,
    burnToken: addressWord(from.chain.kind, from.usdc),
    mintRecipient: transfer.mintRecipient as Hex,
    amountAtomic: transfer.amount + transfer.maxFee,
    messageSender: addressWord(from.chain.kind, signer),
    maxFeeAtomic: transfer.maxFee,
    hookData: transfer.hookData as Hex,
  };
}

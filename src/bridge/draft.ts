import type { Hex } from "viem";
import type { Config } from "../config/index.ts";
import { ApiError } from "../lib/errors.ts";
import type { AttestationClient } from "./attestation/client.ts";
import { finalityThresholds, planFees, type RouteFees } from "./fees.ts";
import { estimateTime } from "./finality.ts";
import { evmForwardHook, solanaForwardHook } from "./forwarder.ts";
import type { Transfer } from "./network.ts";
import type { TransferPlan } from "./plan.ts";
import { addressWord } from "./words.ts";

/** What is minted to, and whether a forwarder must make it first. */
export interface MintTarget {
  readonly word: Hex;
  readonly needsSetup: boolean;
}

/** Used when the attestation service gives no quote: no forwarder, no fee (CCTP's default). */
const UNQUOTED: RouteFees = {
  fastMicroBps: undefined,
  standardMicroBps: 0n,
  forwardFeeAtomic: undefined,
};

export interface DraftInput {
  readonly plan: TransferPlan;
  readonly keyId: string;
  readonly target: MintTarget;
  readonly authorization: Readonly<Record<string, unknown>> | null;
  readonly destinationBlock: number;
  /** ms since the epoch. */
  readonly now: number;
}

/**
 * The row of a new transfer, with its fee quoted now.
 * @throws ApiError `BRIDGE_FEE_TOO_HIGH`
 */
export async function draftTransfer(
  input: DraftInput,
  attestation: AttestationClient,
  config: Config["bridge"],
): Promise<Transfer> {
  const { plan, target, now } = input;
  const { from, to } = plan;
  const quoted = await attestation.fees(from, to, target.needsSetup);
  const fees = planFees(plan.amountAtomic, plan.useForwarder, quoted ?? UNQUOTED, config);
  if (!fees) throw new ApiError("BRIDGE_FEE_TOO_HIGH");
  const { useForwarder, finality, maxFeeAtomic } = fees;
  return {
    id: crypto.randomUUID(),
    keyId: input.keyId,
    state: "created",
    fromChainId: from.id,
    toChainId: to.id,
    amount: plan.amountAtomic,
    maxFee: maxFeeAtomic,
    recipient: plan.recipient,
    mintRecipient: target.word,
    sender: plan.sender ?? null,
    useForwarder,
    minFinalityThreshold: finalityThresholds[finality],
    hookData: useForwarder ? hookFor(plan) : "0x",
    authorization: input.authorization,
    estimatedTime: estimateTime(from, finality, useForwarder),
    destinationBlock: input.destinationBlock,
    transactionHash: null,
    burnHash: null,
    messageIndex: null,
    message: null,
    attestation: null,
    feeExecuted: null,
    delayReason: null,
    mintHash: null,
    attention: null,
    checks: 0,
    nextCheckAt: now,
    createdAt: now,
    stateAt: now,
    updatedAt: now,
  };
}

function hookFor({ to, recipient }: TransferPlan): Hex {
  return to.kind === "solana"
    ? solanaForwardHook(addressWord("solana", recipient))
    : evmForwardHook();
}

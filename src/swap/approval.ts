import { type Address, encodeFunctionData, type PublicClient } from "viem";
import { erc20Abi } from "./abi.ts";
import { toGasLimit } from "./gasLimit.ts";
import type { Approval } from "./model.ts";
import { simulationError } from "./revert.ts";
import { overrideFor, type TokenSlots } from "./tokenSlots.ts";
import { isUnreachable } from "./clients.ts";

/** Gas of an `approve` whose state cannot be simulated before the reset it follows is mined. */
const APPROVE_GAS = 65_000n;

/** Who allows whom how much. */
export interface ApprovalNeed {
  readonly token: Address;
  readonly owner: Address;
  readonly spender: Address;
  readonly amount: bigint;
  /** What is allowed now. */
  readonly allowance: bigint;
}

/** The approvals to send before the swap, the reset first. */
export interface Approvals {
  readonly approval: Approval | null;
  readonly resetApproval?: Approval;
}

/**
 * The approval a swap needs: none when the allowance suffices, else one for the exact amount. A
 * token that refuses to change a standing allowance (USDT does) gets a reset to 0 first; this is
 * found out by simulating the approval.
 * @throws ApiError `SIMULATION_FAILED` when the token refuses every approval
 */
export async function planApprovals(
  client: PublicClient,
  need: ApprovalNeed,
  findSlots: () => Promise<TokenSlots>,
): Promise<Approvals> {
  if (need.allowance >= need.amount) return { approval: null };
  try {
    return { approval: approvalTx(need, need.amount, await estimate(client, need, need.amount)) };
  } catch (error) {
    if (need.allowance === 0n || isUnreachable(error)) throw simulationError("approval", error);
  }
  try {
    const resetGas = await estimate(client, need, 0n);
    const gas = await estimateAfterReset(client, need, await findSlots());
    return {
      resetApproval: approvalTx(need, 0n, resetGas),
      approval: approvalTx(need, need.amount, gas),
    };
  } catch (error) {
    throw simulationError("approval", error);
  }
}

async function estimateAfterReset(
  client: PublicClient,
  need: ApprovalNeed,
  slots: TokenSlots,
): Promise<bigint> {
  const stateOverride = overrideFor(slots, { ...need, balance: undefined, allowance: 0n });
  return stateOverride ? estimate(client, need, need.amount, stateOverride) : APPROVE_GAS;
}

function estimate(
  client: PublicClient,
  need: ApprovalNeed,
  amount: bigint,
  stateOverride?: ReturnType<typeof overrideFor>,
): Promise<bigint> {
  return client.estimateGas({
    account: need.owner,
    to: need.token,
    data: approveData(need.spender, amount),
    ...(stateOverride && { stateOverride }),
  });
}

function approvalTx(need: ApprovalNeed, amount: bigint, gas: bigint): Approval {
  return {
    to: need.token,
    data: approveData(need.spender, amount),
    from: need.owner,
    gasLimit: toGasLimit(gas),
  };
}

function approveData(spender: Address, amount: bigint) {
  return encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, amount] });
}

import type { Address, Hex, PublicClient } from "viem";
import type { Approvals } from "./approval.ts";
import { type BundledCall, estimateLast } from "./bundle.ts";
import { simulationError } from "./revert.ts";
import { overrideFor, type TokenSlots } from "./tokenSlots.ts";
import type { WalletState } from "./wallet.ts";

/** A swap about to be returned, and what its wallet has. */
export interface SwapCall {
  /** Token sold, or the native asset's sentinel. */
  readonly token: Address;
  readonly owner: Address;
  readonly executor: Address;
  readonly amountIn: bigint;
  readonly wallet: WalletState;
  readonly data: Hex;
  /** Native value sent along, wei. */
  readonly value: bigint;
}

/**
 * Runs a swap on a node without sending it and gives its gas. A wallet that is not funded or has
 * not approved yet is made to seem so by a state override: people build before they fund. Where a
 * token's allowances cannot be overridden, the swap is run after its approvals.
 *
 * @param approvals - what the wallet is to send first
 * @returns undefined when nothing can be simulated before the wallet is funded and approved: the
 *   token's storage layout is unknown
 * @throws ApiError `SIMULATION_FAILED` with the decoded reason, `UPSTREAM_UNREACHABLE`
 */
export async function estimateSwap(
  client: PublicClient,
  findSlots: () => Promise<TokenSlots>,
  call: SwapCall,
  approvals: Promise<Approvals>,
): Promise<bigint | undefined> {
  const { token, owner, executor, amountIn, wallet, data, value } = call;
  const balance = wallet.balance < amountIn ? amountIn : undefined;
  const allowance = wallet.allowance < amountIn ? amountIn : undefined;
  const isReady = balance === undefined && allowance === undefined;
  const slots = isReady ? undefined : await findSlots();
  const pretence = { token, owner, spender: executor, balance, allowance };
  const stateOverride = slots && overrideFor(slots, pretence);
  if (slots && !stateOverride) {
    const funded = overrideFor(slots, { ...pretence, allowance: undefined });
    return funded && estimateLast(client, owner, bundleOf(call, await approvals), funded);
  }
  try {
    return await client.estimateGas({
      account: owner,
      to: executor,
      data,
      value,
      ...(stateOverride && { stateOverride }),
    });
  } catch (error) {
    throw simulationError("swap", error);
  }
}

/** The swap and what is sent before it. Only ERC-20 tokens need approvals: no native value. */
function bundleOf(call: SwapCall, { resetApproval, approval }: Approvals): BundledCall[] {
  const before = [resetApproval, approval].flatMap((tx) => tx ?? []);
  return [
    ...before.map(({ to, data }) => ({ name: "approval", to, data })),
    { name: "swap", to: call.executor, data: call.data },
  ];
}

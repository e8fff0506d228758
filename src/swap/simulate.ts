import type { Address, Hex, PublicClient } from "viem";
import { simulationError } from "./revert.ts";
import { overrideFor, type TokenSlots } from "./tokenSlots.ts";
import type { WalletState } from "./wallet.ts";

/** A swap about to be returned, and what its wallet has. */
export interface SwapCall {
  readonly token: Address;
  readonly owner: Address;
  readonly executor: Address;
  readonly amountIn: bigint;
  readonly wallet: WalletState;
  readonly data: Hex;
}

/**
 * Runs a swap on a node without sending it and gives its gas. A wallet that is not funded or has
 * not approved yet is made to seem so by a state override: people build before they fund.
 *
 * @returns undefined when the token's storage layout is unknown, so that nothing can be simulated
 *   before the wallet is funded and approved
 * @throws ApiError `SIMULATION_FAILED` with the decoded reason, `UPSTREAM_UNREACHABLE`
 */
export async function estimateSwap(
  client: PublicClient,
  findSlots: () => Promise<TokenSlots>,
  call: SwapCall,
): Promise<bigint | undefined> {
  const { token, owner, executor, amountIn, wallet, data } = call;
  const balance = wallet.balance < amountIn ? amountIn : undefined;
  const allowance = wallet.allowance < amountIn ? amountIn : undefined;
  const isReady = balance === undefined && allowance === undefined;
  const pretence = { token, owner, spender: executor, balance, allowance };
  const stateOverride = isReady ? undefined : overrideFor(await findSlots(), pretence);
  if (!isReady && !stateOverride) return undefined;
  try {
    return await client.estimateGas({
      account: owner,
      to: executor,
      data,
      ...(stateOverride && { stateOverride }),
    });
  } catch (error) {
    throw simulationError("swap", error);
  }
}

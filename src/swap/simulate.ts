import {
  type Address,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  type PublicClient,
  type StateOverride,
} from "viem";
import type { Chain } from "../chains/index.ts";
import { ApiError } from "../lib/errors.ts";
import type { Approvals } from "./approval.ts";
import { type BundledCall, estimateLast, FUNDING } from "./bundle.ts";
import { findHolder } from "./holder.ts";
import { merged, pretend } from "./pretence.ts";
import type { PricedRoute } from "./quoteSource.ts";
import { simulationError } from "./revert.ts";
import type { TokenSlots } from "./tokenSlots.ts";
import type { WalletState } from "./wallet.ts";

/** A swap about to be returned, and what its wallet has. */
export interface SwapCall {
  readonly chain: Chain;
  readonly route: PricedRoute;
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
 * Runs a swap on a node without sending it and gives its gas. People build before they fund and
 * approve: a wallet that lacks something is made to seem to have it by a state override. Where that
 * fails, the swap is run after its approvals and after a transfer from a pool that has the token.
 *
 * @param approvals - what the wallet is to send first
 * @throws ApiError `SIMULATION_FAILED` with the decoded reason; `SIMULATION_UNAVAILABLE` when the
 *   swap can be run in no way before the wallet is ready; `UPSTREAM_UNREACHABLE`
 */
export async function estimateSwap(
  client: PublicClient,
  findSlots: () => Promise<TokenSlots>,
  call: SwapCall,
  approvals: Promise<Approvals>,
): Promise<bigint> {
  const { token, owner, executor, amountIn, wallet } = call;
  const pretended = await pretend(client, findSlots, {
    token,
    owner,
    spender: executor,
    balance: wallet.balance < amountIn ? amountIn : undefined,
    allowance: wallet.allowance < amountIn ? amountIn : undefined,
  });
  let failure: unknown;
  const { balance, allowance } = pretended;
  if (balance && allowance) {
    try {
      return await estimateAlone(client, call, merged([...balance, ...allowance]));
    } catch (error) {
      if (!pretended.isSearched) throw error;
      failure = error;
    }
  }
  const funds = failure ? undefined : balance;
  const gas = await estimateAfterOthers(client, call, funds, await approvals);
  if (gas !== undefined) return gas;
  throw failure ?? unavailable(call);
}

function unavailable({ owner, executor, token, amountIn }: SwapCall): ApiError {
  return new ApiError(
    "SIMULATION_UNAVAILABLE",
    `Swap cannot be simulated yet: ${owner} must first hold ${amountIn} of ${token} ` +
      `and approve ${executor} for it`,
  );
}

async function estimateAlone(
  client: PublicClient,
  call: SwapCall,
  stateOverride: StateOverride,
): Promise<bigint> {
  try {
    return await client.estimateGas({
      account: call.owner,
      to: call.executor,
      data: call.data,
      value: call.value,
      ...(stateOverride.length > 0 && { stateOverride }),
    });
  } catch (error) {
    throw simulationError("swap", error);
  }
}

/**
 * Runs the swap after what is sent before it. Only ERC-20 tokens need that: no native value.
 * @param funds - makes the wallet seem funded; left out, a pool lends what is missing
 * @returns undefined when it cannot be run
 */
async function estimateAfterOthers(
  client: PublicClient,
  call: SwapCall,
  funds: StateOverride | undefined,
  { resetApproval, approval }: Approvals,
): Promise<bigint | undefined> {
  const isFunded = funds !== undefined || call.wallet.balance >= call.amountIn;
  const funding = isFunded ? [] : await fundingOf(client, call);
  if (!funding) return undefined;
  const before = [resetApproval, approval].flatMap((tx) => tx ?? []);
  const bundle: BundledCall[] = [
    ...funding,
    ...before.map(({ to, data }) => ({ name: "approval", from: call.owner, to, data })),
    { name: "swap", from: call.owner, to: call.executor, data: call.data },
  ];
  return estimateLast(client, bundle, funds ?? []);
}

/** A transfer to the wallet from a pool that can spare it; twice the amount, for a tax. */
async function fundingOf(client: PublicClient, call: SwapCall): Promise<BundledCall[] | undefined> {
  const { chain, token, amountIn: amount, route } = call;
  const holder = await findHolder(client, chain, { token, amount }, route);
  if (!holder) return undefined;
  const lent = holder.balance < 2n * amount ? holder.balance : 2n * amount;
  const args = [call.owner, lent] as const;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args });
  return [{ name: FUNDING, from: holder.address, to: token, data }];
}

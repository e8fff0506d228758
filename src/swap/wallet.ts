import type { Address, PublicClient } from "viem";
import type { Chain } from "../chains/index.ts";
import { ApiError } from "../lib/errors.ts";
import { erc20Abi, multicall3Abi } from "./abi.ts";
import { multicall3Of, ReadBatch } from "./multicall.ts";
import { simulationError } from "./revert.ts";

/** A wallet's means for one swap, and the chain's time, at one block. */
export interface WalletState {
  readonly balance: bigint;
  readonly allowance: bigint;
  /** Timestamp of the block, unix seconds. */
  readonly timestamp: bigint;
}

/**
 * Reads what a wallet has of a token and how much of it `spender` may take.
 * @throws ApiError `UNKNOWN_TOKEN` when the address is not a token's, `SIMULATION_FAILED`
 *   when the token breaks the call, `UPSTREAM_UNREACHABLE`
 */
export async function readWallet(
  client: PublicClient,
  chain: Chain,
  { token, owner, spender }: { token: Address; owner: Address; spender: Address },
): Promise<WalletState> {
  const batch = new ReadBatch();
  const balance = batch.add({
    address: token,
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [owner],
  });
  const allowance = batch.add({
    address: token,
    abi: erc20Abi,
    functionName: "allowance",
    args: [owner, spender],
  });
  const timestamp = batch.add({
    address: multicall3Of(chain),
    abi: multicall3Abi,
    functionName: "getCurrentBlockTimestamp",
    args: [],
  });
  try {
    await batch.send(client, chain);
  } catch (error) {
    throw error instanceof ApiError ? error : simulationError("balance check", error);
  }
  const state = { balance: balance(), allowance: allowance(), timestamp: timestamp() };
  if (state.balance === undefined || state.allowance === undefined) {
    throw new ApiError("UNKNOWN_TOKEN", `Unknown token: ${token} is no ERC-20 token`);
  }
  return {
    balance: state.balance,
    allowance: state.allowance,
    timestamp: state.timestamp ?? 0n,
  };
}

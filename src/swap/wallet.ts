import { type Address, maxUint256, type PublicClient } from "viem";
import type { Chain } from "../chains/index.ts";
import { ApiError } from "../lib/errors.ts";
import { erc20Abi, multicall3Abi } from "./abi.ts";
import { multicall3Of, ReadBatch } from "./multicall.ts";
import { NATIVE } from "./native.ts";
import { simulationError } from "./revert.ts";

/** A wallet's means for one swap, and the chain's time, at one block. */
export interface WalletState {
  readonly balance: bigint;
  /** The native asset needs none: without bound. */
  readonly allowance: bigint;
  /** Timestamp of the block, unix seconds. */
  readonly timestamp: bigint;
}

interface Means {
  readonly token: Address;
  readonly owner: Address;
  readonly spender: Address;
}

/**
 * Reads what a wallet has of a token, or of the native asset, and how much of it `spender` may take.
 * @throws ApiError `UNKNOWN_TOKEN` when the address is not a token's, `SIMULATION_FAILED`
 *   when the token breaks the call, `UPSTREAM_UNREACHABLE`
 */
export async function readWallet(
  client: PublicClient,
  chain: Chain,
  means: Means,
): Promise<WalletState> {
  const batch = new ReadBatch();
  const multicall3 = { address: multicall3Of(chain), abi: multicall3Abi } as const;
  const timestamp = batch.add({
    ...multicall3,
    functionName: "getCurrentBlockTimestamp",
    args: [],
  });
  const { balance, allowance } =
    means.token === NATIVE
      ? {
          balance: batch.add({ ...multicall3, functionName: "getEthBalance", args: [means.owner] }),
          allowance: () => maxUint256,
        }
      : addTokenReads(batch, means);
  try {
    await batch.send(client, chain);
  } catch (error) {
    throw error instanceof ApiError ? error : simulationError("balance check", error);
  }
  const state = { balance: balance(), allowance: allowance(), timestamp: timestamp() };
  if (state.balance === undefined || state.allowance === undefined) {
    throw new ApiError("UNKNOWN_TOKEN", `Unknown token: ${means.token} is no ERC-20 token`);
  }
  return {
    balance: state.balance,
    allowance: state.allowance,
    timestamp: state.timestamp ?? 0n,
  };
}

function addTokenReads(batch: ReadBatch, { token, owner, spender }: Means) {
  const contract = { address: token, abi: erc20Abi } as const;
  return {
    balance: batch.add({ ...contract, functionName: "balanceOf", args: [owner] }),
    allowance: batch.add({ ...contract, functionName: "allowance", args: [owner, spender] }),
  };
}

import {
  type Abi,
  type Address,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  parseAbi,
  type PublicClient,
} from "viem";
import type { Chain } from "../chains/index.ts";
import { ApiError } from "../lib/errors.ts";
import { reading } from "./clients.ts";

const aggregateAbi = parseAbi([
  "struct Call { address target; bool allowFailure; bytes callData; }",
  "struct Result { bool success; bytes returnData; }",
  "function aggregate3(Call[] calls) payable returns (Result[] returnData)",
]);

type Mutability = "view" | "pure" | "nonpayable" | "payable";

/** One contract read. Its types follow from the ABI. */
export interface Read<
  ContractAbi extends Abi,
  Name extends ContractFunctionName<ContractAbi, Mutability>,
> {
  readonly address: Address;
  readonly abi: ContractAbi;
  readonly functionName: Name;
  readonly args: ContractFunctionArgs<ContractAbi, Mutability, Name>;
}

/** Gives a read's value once its batch was sent; undefined when it reverted or met no contract. */
export type Value<Result> = () => Result | undefined;

/** The chain's Multicall3. @throws ApiError `UNSUPPORTED_CHAIN` when it has none */
export function multicall3Of(chain: Chain): Address {
  if (!chain.multicall3)
    throw new ApiError("UNSUPPORTED_CHAIN", `Unsupported chainId: ${chain.id}`);
  return chain.multicall3 as Address;
}

/** Contract reads that are sent as one `eth_call`, so that all values are of one block. */
export class ReadBatch {
  readonly #calls: { target: Address; allowFailure: true; callData: Hex }[] = [];
  #results: readonly { success: boolean; returnData: Hex }[] = [];

  /** Adds a read; its value is there after {@link send}. */
  add<const ContractAbi extends Abi, Name extends ContractFunctionName<ContractAbi, Mutability>>(
    read: Read<ContractAbi, Name>,
  ): Value<ContractFunctionReturnType<ContractAbi, Mutability, Name>> {
    type Result = ContractFunctionReturnType<ContractAbi, Mutability, Name>;
    const { address, args } = read;
    const call = { abi: read.abi as Abi, functionName: read.functionName as string };
    const callData = encodeFunctionData({ ...call, args: args as readonly unknown[] });
    const index = this.#calls.push({ target: address, allowFailure: true, callData }) - 1;
    return () => {
      const result = this.#results[index];
      if (!result?.success) return undefined;
      try {
        return decodeFunctionResult({ ...call, data: result.returnData }) as Result;
      } catch {
        return undefined; // An address without code answers with success and no data.
      }
    };
  }

  /**
   * @param blockNumber - block to read at; the newest where left out
   * @throws ApiError `UPSTREAM_UNREACHABLE`, `UNSUPPORTED_CHAIN`
   */
  async send(client: PublicClient, chain: Chain, blockNumber?: bigint): Promise<void> {
    this.#results = await reading(
      client.readContract({
        address: multicall3Of(chain),
        abi: aggregateAbi,
        functionName: "aggregate3",
        args: [this.#calls],
        ...(blockNumber !== undefined && { blockNumber }),
      }),
    );
  }
}

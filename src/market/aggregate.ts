import {
  type Abi,
  type Address,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  decodeFunctionResult,
  type DecodeFunctionResultParameters,
  encodeFunctionData,
  type EncodeFunctionDataParameters,
  type Hex,
} from "viem";
import { aggregateAbi } from "./abi.ts";
import type { BlockRef } from "./pool.ts";
import type { PinnedReader } from "./reader.ts";

/** Cheap reads per `eth_call`: some 3 M gas. */
const CALLS_PER_CHUNK = 500;

interface Call {
  readonly target: Address;
  readonly allowFailure: true;
  readonly callData: Hex;
}

/** Many small reads of one block through Multicall3; a read that fails gives undefined. */
export class Aggregate {
  readonly #calls: Call[] = [];
  readonly #results: (Hex | undefined)[] = [];

  /**
   * Adds a read.
   * @returns gives the result once the aggregate was sent; undefined where the read failed
   */
  add<const TAbi extends Abi, Name extends ContractFunctionName<TAbi, "view">>(
    target: Address,
    abi: TAbi,
    functionName: Name,
    args: readonly unknown[] = [],
  ): () => ContractFunctionReturnType<TAbi, "view", Name> | undefined {
    const call = { abi, functionName, args } as unknown as EncodeFunctionDataParameters;
    const callData = encodeFunctionData(call);
    const index = this.#calls.push({ target, allowFailure: true, callData }) - 1;
    return () => {
      const data = this.#results[index];
      // An address without code answers every call with success and no data.
      if (data === undefined || data === "0x") return undefined;
      const decode = { abi, functionName, args, data } as unknown as DecodeFunctionResultParameters;
      return decodeFunctionResult(decode) as ContractFunctionReturnType<TAbi, "view", Name>;
    };
  }

  /** Sends everything, in as few calls as fit, all pinned to `block`. */
  async send(reader: PinnedReader, multicall3: Address, block: BlockRef): Promise<void> {
    for (let from = 0; from < this.#calls.length; from += CALLS_PER_CHUNK) {
      const calls = this.#calls.slice(from, from + CALLS_PER_CHUNK);
      const aggregate = { abi: aggregateAbi, functionName: "aggregate3" } as const;
      const data = await reader.call(
        { to: multicall3, data: encodeFunctionData({ ...aggregate, args: [calls] }) },
        block,
      );
      for (const { success, returnData } of decodeFunctionResult({ ...aggregate, data })) {
        this.#results.push(success ? returnData : undefined);
      }
    }
  }
}

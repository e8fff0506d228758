import { type Address, decodeEventLog, getAddress, type Hex, isHex, toEventSelector } from "viem";
import { v2Abi, v3Abi } from "./abi.ts";
import { NodeAnswerError } from "./reader.ts";

/** What happened to a pool. */
export type PoolEvent =
  | { readonly kind: "sync"; readonly reserve0: bigint; readonly reserve1: bigint }
  | { readonly kind: "initialize"; readonly sqrtPriceX96: bigint; readonly tick: number }
  | {
      readonly kind: "swap";
      readonly sqrtPriceX96: bigint;
      readonly liquidity: bigint;
      readonly tick: number;
    }
  | {
      readonly kind: "position";
      readonly tickLower: number;
      readonly tickUpper: number;
      /** Above 0 for a mint, below for a burn. */
      readonly liquidityDelta: bigint;
    };

/** An event with its place on the chain. */
export interface PoolLog {
  readonly address: Address;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly logIndex: number;
  readonly event: PoolEvent;
}

const eventsAbi = [...v2Abi, ...v3Abi].filter((item) => item.type === "event");

/** First topics of every event that changes a pool's state. */
export const poolTopics: readonly Hex[] = eventsAbi.map((event) => toEventSelector(event));

/**
 * Decodes logs asked for by {@link poolTopics}, in the order they happened.
 * @throws NodeAnswerError when one is not a log of the chain's present branch
 */
export function parseLogs(logs: readonly unknown[]): PoolLog[] {
  return logs
    .map(parseLog)
    .filter((log) => log !== undefined)
    .sort((a, b) => Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex);
}

function parseLog(log: unknown): PoolLog | undefined {
  const { address, blockNumber, blockHash, logIndex, data, topics, removed } = log as Record<
    string,
    unknown
  >;
  const isComplete =
    typeof address === "string" && isHex(blockNumber) && isHex(blockHash) && isHex(logIndex);
  if (!isComplete || !isHex(data) || !Array.isArray(topics) || removed === true) {
    throw new NodeAnswerError("a log is incomplete or was removed");
  }
  const event = parseEvent(data, topics as [Hex, ...Hex[]]);
  if (!event) return undefined;
  return {
    address: getAddress(address),
    blockNumber: BigInt(blockNumber),
    blockHash,
    logIndex: Number(logIndex),
    event,
  };
}

/** @returns undefined for another contract's event that has the same selector */
function parseEvent(data: Hex, topics: [Hex, ...Hex[]]): PoolEvent | undefined {
  let decoded: ReturnType<typeof decodePoolEvent>;
  try {
    decoded = decodePoolEvent(data, topics);
  } catch {
    return undefined;
  }
  switch (decoded.eventName) {
    case "Sync":
      return { kind: "sync", ...decoded.args };
    case "Initialize":
      return { kind: "initialize", ...decoded.args };
    case "Swap": {
      const { sqrtPriceX96, liquidity, tick } = decoded.args;
      return { kind: "swap", sqrtPriceX96, liquidity, tick };
    }
    case "Mint":
    case "Burn": {
      const { tickLower, tickUpper, amount } = decoded.args;
      const liquidityDelta = decoded.eventName === "Mint" ? amount : -amount;
      return { kind: "position", tickLower, tickUpper, liquidityDelta };
    }
  }
}

function decodePoolEvent(data: Hex, topics: [Hex, ...Hex[]]) {
  return decodeEventLog({ abi: eventsAbi, data, topics, strict: true });
}

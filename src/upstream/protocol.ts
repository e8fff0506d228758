import { keccak256 } from "viem";
import type { Chain } from "../chains/index.ts";
import { member } from "../lib/exactJson.ts";
import type { JudgeError } from "./classify.ts";
import { isSolanaCluster, isSolanaKnown, judgeSolanaError, readSolanaSignature } from "./solana.ts";
import type { RpcCall } from "./types.ts";

/** What the pool must know of a family of chains to watch over its nodes. */
export interface ChainProtocol {
  /** Call whose result tells the node's head. */
  readonly headMethod: string;
  /** Reads the head from the result of `headMethod`; undefined when it is not one. */
  parseHead(result: unknown): number | undefined;
  /** Call that tells which chain the node serves. */
  readonly identityMethod: string;
  /** Whether a node is used that does not serve that call. */
  readonly mayHideIdentity: boolean;
  /** Whether the result of `identityMethod` is this chain's. */
  isChain(result: unknown, chainId: number): boolean;
  /** What the errors of its nodes mean, where it is not the same on all chains. */
  readonly judgeError: JudgeError | undefined;
  /** Call that broadcasts a signed transaction and answers with its id. */
  readonly broadcastMethod: string;
  /** Id of the signed transaction in the params of a broadcast; undefined when there is none. */
  transactionId(params: readonly unknown[]): string | undefined;
  /** Asks a node whether it has a transaction. */
  lookup(transactionId: string): RpcCall;
  /** Whether the result of `lookup` shows the transaction. */
  isKnown(result: unknown): boolean;
}

const evm: ChainProtocol = {
  headMethod: "eth_blockNumber",
  parseHead: (result) => parseQuantity(result),
  identityMethod: "eth_chainId",
  mayHideIdentity: false,
  isChain: (result, chainId) => parseQuantity(result) === chainId,
  judgeError: undefined,
  broadcastMethod: "eth_sendRawTransaction",
  transactionId: ([raw]) =>
    typeof raw === "string" && /^0x(?:[0-9a-fA-F]{2})+$/.test(raw)
      ? keccak256(raw as `0x${string}`)
      : undefined,
  lookup: (hash) => ({ method: "eth_getTransactionByHash", params: JSON.stringify([hash]) }),
  isKnown: (result) => member(result, "hash") !== undefined,
};

const solana: ChainProtocol = {
  headMethod: "getSlot",
  parseHead: (result) =>
    typeof result === "number" && Number.isSafeInteger(result) ? result : undefined,
  identityMethod: "getGenesisHash",
  mayHideIdentity: true,
  isChain: isSolanaCluster,
  judgeError: judgeSolanaError,
  broadcastMethod: "sendTransaction",
  transactionId: readSolanaSignature,
  lookup: (signature) => ({
    method: "getSignatureStatuses",
    params: JSON.stringify([[signature], { searchTransactionHistory: true }]),
  }),
  isKnown: isSolanaKnown,
};

/** The protocol of a registry network. */
export function protocolOf(kind: Chain["kind"]): ChainProtocol {
  return kind === "evm" ? evm : solana;
}

function parseQuantity(result: unknown): number | undefined {
  if (typeof result !== "string" || !/^0x[0-9a-fA-F]{1,13}$/.test(result)) return undefined;
  const value = Number(result);
  return Number.isSafeInteger(value) ? value : undefined;
}

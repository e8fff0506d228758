import { keccak256 } from "viem";
import type { Chain } from "../chains/index.ts";

/** What the pool must know of a family of chains to watch over its nodes. */
export interface ChainProtocol {
  /** Call whose result tells the node's head. */
  readonly headMethod: string;
  /** Reads the head from the result of `headMethod`; undefined when it is not one. */
  parseHead(result: unknown): number | undefined;
  /** Call that tells which chain the node serves; undefined where none can be trusted to. */
  readonly identityMethod: string | undefined;
  /** Whether the result of `identityMethod` is this chain's. */
  isChain(result: unknown, chainId: number): boolean;
  /** Id a signed transaction has on the chain; undefined when it is not derived from the bytes alone. */
  transactionHash(rawTransaction: unknown): string | undefined;
}

const evm: ChainProtocol = {
  headMethod: "eth_blockNumber",
  parseHead: (result) => parseQuantity(result),
  identityMethod: "eth_chainId",
  isChain: (result, chainId) => parseQuantity(result) === chainId,
  transactionHash: (raw) =>
    typeof raw === "string" && /^0x(?:[0-9a-fA-F]{2})+$/.test(raw)
      ? keccak256(raw as `0x${string}`)
      : undefined,
};

/** Solana's clusters are told apart by genesis hash, which a local cluster makes anew. */
const solana: ChainProtocol = {
  headMethod: "getSlot",
  parseHead: (result) =>
    typeof result === "number" && Number.isSafeInteger(result) ? result : undefined,
  identityMethod: undefined,
  isChain: () => true,
  transactionHash: () => undefined,
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

import type { RpcAnswer, RpcMessage } from "./messages.ts";
import { errorAnswer } from "./messages.ts";

/** Where the block stands among the parameters of methods that read state. */
const BLOCK_PARAMETER: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_estimateGas: 1,
  eth_createAccessList: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
  eth_getProof: 2,
  eth_feeHistory: 1,
  eth_getBlockByNumber: 0,
  eth_getBlockReceipts: 0,
  eth_getBlockTransactionCountByNumber: 0,
};

const HEAD_TAGS = new Set<unknown>(["latest", "pending", "safe", "finalized", undefined, null]);
/** Answers about one transaction or block, which a lagging node doesn't know yet. */
const BY_HASH = new Set([
  "eth_getTransactionReceipt",
  "eth_getTransactionByHash",
  "eth_getBlockByHash",
]);

/** What a lagging node does with a request: forward it changed, or answer it itself. */
export type Lagged = { readonly forward: RpcMessage } | { readonly answer: RpcAnswer };

/**
 * Makes a request see the chain as it was at `head`.
 * @param head - the newest block the lagging node has
 */
export function lagRequest(message: RpcMessage, head: bigint): Lagged {
  const params = Array.isArray(message.params) ? [...message.params] : [];
  const { method } = message;
  if (method === "eth_blockNumber") return answerWith(message, toHex(head));
  if (method === "eth_getLogs")
    return { forward: { ...message, params: [lagFilter(params, head)] } };
  const index = typeof method === "string" ? BLOCK_PARAMETER[method] : undefined;
  if (index === undefined) return { forward: message };

  const block: unknown = params[index];
  if (isAbove(block, head)) {
    return method === "eth_getBlockByNumber"
      ? answerWith(message, null)
      : { answer: errorAnswer(message, -32_000, "header not found") };
  }
  if (!HEAD_TAGS.has(block)) return { forward: message };
  params[index] = toHex(head);
  return { forward: { ...message, params } };
}

/** Hides what happened after `head` from an answer that was asked for by hash. */
export function lagAnswer(message: RpcMessage, answer: RpcAnswer, head: bigint): RpcAnswer {
  if (typeof message.method !== "string" || !BY_HASH.has(message.method)) return answer;
  const found = answer.result as { blockNumber?: unknown; number?: unknown } | null | undefined;
  const block = found?.blockNumber ?? found?.number;
  return isAbove(block, head) ? { jsonrpc: "2.0", id: answer.id, result: null } : answer;
}

/** A lagging node finds no logs in blocks it doesn't have, and says nothing about it. */
function lagFilter(params: readonly unknown[], head: bigint): unknown {
  const filter = { ...(params[0] as { fromBlock?: unknown; toBlock?: unknown } | undefined) };
  if ("blockHash" in filter) return filter;
  // Genesis holds no logs: the answer to a range the node has nothing of.
  if (isAbove(filter.fromBlock, head)) return { ...filter, fromBlock: "0x0", toBlock: "0x0" };
  const clip = (block: unknown) =>
    HEAD_TAGS.has(block) || isAbove(block, head) ? toHex(head) : block;
  return { ...filter, fromBlock: clip(filter.fromBlock), toBlock: clip(filter.toBlock) };
}

function isAbove(block: unknown, head: bigint): boolean {
  return typeof block === "string" && /^0x[0-9a-fA-F]+$/.test(block) && BigInt(block) > head;
}

function answerWith(message: RpcMessage, result: unknown): Lagged {
  return { answer: { jsonrpc: "2.0", id: message.id, result } };
}

function toHex(block: bigint): string {
  return `0x${block.toString(16)}`;
}

import { textOf } from "../../lib/jsonSpan.ts";
import type { UpstreamPool } from "../types.ts";
import { type Block, parseBlock, toQuantity } from "./block.ts";
import { type Log, parseLogs } from "./log.ts";

/** Blocks and logs of one chain, read through the pool. What is not there yet is undefined. */
export interface BlockReader {
  /** @throws UpstreamUnavailableError */
  latest(): Promise<Block | undefined>;
  /** @throws UpstreamUnavailableError */
  byNumber(number: number): Promise<Block | undefined>;
  /** @throws UpstreamUnavailableError */
  byHash(hash: string): Promise<Block | undefined>;
  /**
   * Logs of one block; undefined when the node that was asked does not know it.
   * @param query - `address` and `topics` of `eth_getLogs`
   * @throws UpstreamUnavailableError
   */
  logs(blockHash: string, query: object, signal: AbortSignal): Promise<Log[] | undefined>;
}

/** Time allowed for one read, ms; the next one may find a healthier node. */
const DEADLINE_MS = 5_000;

/** Reads a chain's blocks. @param signal - ends reads of blocks that are under way */
export function createBlockReader(
  pool: Pick<UpstreamPool, "call">,
  chainId: number,
  signal: AbortSignal,
): BlockReader {
  const ask = async (method: string, params: readonly unknown[], own = signal) => {
    const call = { method, params: JSON.stringify(params) };
    const reply = await pool.call(chainId, call, { signal: own, deadlineMs: DEADLINE_MS });
    if (reply.isError) return undefined;
    const text = textOf(reply.bytes, { start: 0, end: reply.bytes.length });
    return (JSON.parse(text) as { result?: unknown }).result;
  };
  return {
    latest: async () => parseBlock(await ask("eth_getBlockByNumber", ["latest", false])),
    byNumber: async (number) =>
      parseBlock(await ask("eth_getBlockByNumber", [toQuantity(number), false])),
    byHash: async (hash) => parseBlock(await ask("eth_getBlockByHash", [hash, false])),
    logs: async (blockHash, query, own) =>
      parseLogs(await ask("eth_getLogs", [{ ...query, blockHash }], own), blockHash),
  };
}

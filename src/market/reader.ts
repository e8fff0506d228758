import { type Address, type Hex, isHex } from "viem";
import type { BlockRef } from "./pool.ts";

/** The way to a chain's nodes: one JSON-RPC call, answered with its result. */
export interface ChainReader {
  /** @throws NodeAnswerError for an error a node answered with; any other when none answered */
  request(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown>;
}

/** A node answered, but with an error, or not with what was asked for. */
export class NodeAnswerError extends Error {
  override readonly name = "NodeAnswerError";
}

/** A call as `eth_call` takes it; without `to`, `data` is creation code. */
export interface ReadCall {
  readonly to?: Address;
  readonly data: Hex;
}

/** Code lent to addresses for the length of one call (the third parameter of `eth_call`). */
export type CodeOverride = Readonly<Record<Address, { readonly code: Hex }>>;

/** Time allowed for one request, ms. */
const REQUEST_TIMEOUT_MS = 5_000;
/** How long a node's refusal of block hashes is believed, ms. */
const HASH_RETRY_MS = 600_000;

/** Reads of one chain, each pinned to a block. */
export class PinnedReader {
  /** Until when calls are pinned by number, because a node refused block hashes (EIP-1898). */
  #byNumberUntilMs = 0;
  #hashesWork = false;

  /**
   * @param monotonic - time in ms
   * @param stopped - aborts every request
   */
  constructor(
    private readonly reader: ChainReader,
    private readonly monotonic: () => number,
    private readonly stopped: AbortSignal,
  ) {}

  /** The newest block. */
  async head(): Promise<BlockRef> {
    const head = parseBlock(await this.#request("eth_getBlockByNumber", ["latest", false]));
    if (!head) throw new NodeAnswerError("no newest block");
    return head;
  }

  /** The block of this number on the chain the node follows; undefined where it has none. */
  async blockAt(number: bigint): Promise<BlockRef | undefined> {
    return parseBlock(await this.#request("eth_getBlockByNumber", [toHex(number), false]));
  }

  /**
   * Logs as the node gives them.
   * @param filter - as `eth_getLogs` takes it
   */
  async logs(filter: object): Promise<readonly unknown[]> {
    const logs = await this.#request("eth_getLogs", [filter]);
    if (!Array.isArray(logs)) throw new NodeAnswerError("logs are no list");
    return logs;
  }

  /**
   * Runs a call on the state of exactly this block: by its hash, or where nodes don't take one by
   * its number, with the hash at that number compared afterwards.
   * @throws NodeAnswerError when the block was replaced meanwhile
   */
  async call(call: ReadCall, block: BlockRef, override?: CodeOverride): Promise<Hex> {
    const tail = override ? [override] : [];
    if (await this.#takesHashes(block)) {
      return toBytes(await this.#request("eth_call", [call, { blockHash: block.hash }, ...tail]));
    }
    const result = await this.#request("eth_call", [call, toHex(block.number), ...tail]);
    if ((await this.blockAt(block.number))?.hash !== block.hash) {
      throw new NodeAnswerError(`block ${block.number} was replaced`);
    }
    return toBytes(result);
  }

  /** Asks once; a call's own failure must not look like a refusal of hashes. */
  async #takesHashes(block: BlockRef): Promise<boolean> {
    if (this.#hashesWork) return true;
    if (this.monotonic() < this.#byNumberUntilMs) return false;
    const nobody = "0x0000000000000000000000000000000000000000";
    try {
      await this.#request("eth_getBalance", [nobody, { blockHash: block.hash }]);
      this.#hashesWork = true;
    } catch (error) {
      if (!(error instanceof NodeAnswerError)) throw error;
      this.#byNumberUntilMs = this.monotonic() + HASH_RETRY_MS;
    }
    return this.#hashesWork;
  }

  #request(method: string, params: readonly unknown[]): Promise<unknown> {
    const signal = AbortSignal.any([this.stopped, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);
    return until(signal, this.reader.request(method, params, signal));
  }
}

/** Gives up on a promise when the signal aborts, whether its maker heeds the signal or not. */
function until<Value>(signal: AbortSignal, promise: Promise<Value>): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  return Promise.race([promise, aborted]).finally(() =>
    signal.removeEventListener("abort", onAbort),
  );
}

/** A number as JSON-RPC writes it. */
export function toHex(value: bigint): Hex {
  return `0x${value.toString(16)}`;
}

function toBytes(value: unknown): Hex {
  if (isHex(value)) return value;
  throw new NodeAnswerError("call result is no hex");
}

function parseBlock(value: unknown): BlockRef | undefined {
  if (value === null || value === undefined) return undefined;
  const { number, hash, parentHash, timestamp, baseFeePerGas } = value as Record<string, unknown>;
  if (!isHex(number) || !isHex(hash) || !isHex(parentHash) || !isHex(timestamp)) {
    throw new NodeAnswerError("block without number, hash or timestamp");
  }
  return {
    number: BigInt(number),
    hash,
    parentHash,
    timestampMs: Number(timestamp) * 1_000,
    baseFeeWei: isHex(baseFeePerGas) ? BigInt(baseFeePerGas) : undefined,
  };
}

import type { Chain, ChainRegistry } from "../chains/index.ts";
import { ApiError } from "../lib/errors.ts";
import { type UpstreamPool, UpstreamUnavailableError } from "../upstream/index.ts";
import {
  errorBytes,
  invalidRequest,
  joinBatch,
  methodRefused,
  type RpcFailure,
  unreachable,
  withId,
} from "./answer.ts";
import { isRefused } from "./policy.ts";
import { type RequestItem, readRequestBody } from "./request.ts";

export interface RpcServiceOptions {
  readonly pool: UpstreamPool;
  readonly registry: ChainRegistry;
  /** Most requests in one array. */
  readonly maxBatchItems: number;
}

/** One HTTP request to the proxy. */
export interface RpcInput {
  /** Chain id in decimal, or a network's name. */
  readonly chain: string;
  readonly body: Uint8Array;
  /** API key id. */
  readonly caller: string;
  readonly signal: AbortSignal;
  /**
   * Counts and charges the request as this many.
   * @throws ApiError `RATE_LIMIT_EXCEEDED`, `CU_ALLOWANCE_EXCEEDED`
   */
  readonly admit: (items: number) => Promise<void>;
  /** Enters the charge under a chain. */
  readonly chargedChain: (chainId: number) => void;
}

/** What to answer: a JSON-RPC body in bytes. */
export interface RpcOutput {
  readonly status: 200 | 400;
  readonly body: Uint8Array<ArrayBuffer>;
  /** Upstream requests made for this answer. */
  readonly attempts: number;
}

export interface RpcService {
  /**
   * Answers a JSON-RPC request or an array of them.
   * @throws ApiError `UPSTREAM_UNREACHABLE` when no node answered a single request, and what
   *   `admit` throws
   */
  handle(input: RpcInput): Promise<RpcOutput>;
}

/** Largest answer to one array; items beyond it are answered with an error. */
const MAX_BATCH_BYTES = 64 * 1024 * 1024;

const batchTooLarge: RpcFailure = { code: -32003, message: "response of the batch is too large" };

/** The JSON-RPC proxy over the upstream pool. */
export function createRpcService({ pool, registry, maxBatchItems }: RpcServiceOptions): RpcService {
  return {
    async handle(input) {
      const request = readRequestBody(input.body, maxBatchItems);
      const chain = findChain(registry, input.chain);
      if (request.kind === "invalid") return invalid("null");
      if (request.kind === "single") {
        const { item } = request;
        if (!chain || !item.valid) return invalid(item.id);
        input.chargedChain(chain.id);
        const answer = await answerItem(pool, chain, item, input);
        if ("failure" in answer) throw new ApiError("UPSTREAM_UNREACHABLE");
        return { status: 200, ...answer };
      }
      if (!chain) return invalid("null");
      await input.admit(request.items.length);
      input.chargedChain(chain.id);
      return answerBatch(pool, chain, request.items, input);
    },
  };
}

/** A network by decimal id or name; digits with separators between them are neither. */
function findChain(registry: ChainRegistry, text: string): Chain | undefined {
  return /^\d+$/.test(text) || /[a-z]/i.test(text) ? registry.byName(text) : undefined;
}

function invalid(id: string): RpcOutput {
  return { status: 400, body: errorBytes(id, invalidRequest), attempts: 0 };
}

type ItemAnswer = { readonly body: Uint8Array<ArrayBuffer>; readonly attempts: number };

async function answerItem(
  pool: UpstreamPool,
  chain: Chain,
  item: RequestItem,
  input: RpcInput,
): Promise<ItemAnswer | { readonly failure: RpcFailure }> {
  if (!item.valid) return { body: errorBytes(item.id, invalidRequest), attempts: 0 };
  const { id, call } = item;
  if (isRefused(call.method)) {
    return { body: errorBytes(id, methodRefused(call.method)), attempts: 0 };
  }
  try {
    const { signal, caller } = input;
    const reply = await pool.call(chain.id, call, { signal, caller });
    return { body: withId(reply, id), attempts: reply.attempts };
  } catch (error) {
    if (error instanceof UpstreamUnavailableError) return { failure: unreachable };
    throw error;
  }
}

/** Items run side by side, so a slow or failing one keeps none of the others from its answer. */
async function answerBatch(
  pool: UpstreamPool,
  chain: Chain,
  items: readonly RequestItem[],
  input: RpcInput,
): Promise<RpcOutput> {
  let size = 0;
  let attempts = 0;
  const bodies = await Promise.all(
    items.map(async (item) => {
      const answer = await answerItem(pool, chain, item, input);
      if ("failure" in answer) return errorBytes(item.id, answer.failure);
      attempts += answer.attempts;
      size += answer.body.length;
      return size > MAX_BATCH_BYTES ? errorBytes(item.id, batchTooLarge) : answer.body;
    }),
  );
  return { status: 200, body: joinBatch(bodies), attempts };
}

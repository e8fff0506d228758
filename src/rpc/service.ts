import type { CancelSignal } from "../lib/cancel.ts";
import type { Chain, ChainRegistry } from "../chains/index.ts";
import { ApiError } from "../lib/errors.ts";
import {
  type RpcCall,
  type RpcReply,
  type UpstreamPool,
  UpstreamUnavailableError,
} from "../upstream/index.ts";
import {
  errorBytes,
  invalidRequest,
  joinBatch,
  methodRefused,
  resultBytes,
  type RpcFailure,
  unreachable,
  withId,
} from "./answer.ts";
import { responseBody } from "./body.ts";
import { createMethodPolicy, type MethodPolicyOptions } from "./policy.ts";
import { type RequestBody, type RequestItem, readRequestBody } from "./request.ts";

export interface RpcServiceOptions {
  readonly pool: UpstreamPool;
  readonly registry: ChainRegistry;
  /** Most requests in one array. */
  readonly maxBatchItems: number;
  /** Changes to the methods refused by default. */
  readonly methods?: MethodPolicyOptions;
}

/** What answers a method beside the nodes: JSON text, or why not. */
export type OwnAnswer = { readonly result: string } | { readonly failure: RpcFailure };

/** One message to the proxy: the body of an HTTP request, or a message of a socket. */
export interface RpcInput {
  /** undefined: the caller named no chain of the registry. */
  readonly chain: Chain | undefined;
  readonly request: RequestBody;
  /** API key id. */
  readonly caller: string;
  readonly signal: CancelSignal;
  /**
   * Counts and charges the request as this many.
   * @throws ApiError `RATE_LIMIT_EXCEEDED`, `CU_ALLOWANCE_EXCEEDED`
   */
  readonly admit: (items: number) => Promise<void>;
  /** Enters the charge under a chain. */
  readonly chargedChain: (chainId: number) => void;
  /** Methods the connection answers itself; undefined for those it does not. */
  readonly own?: (call: RpcCall) => Promise<OwnAnswer> | undefined;
}

/** What to answer: a JSON-RPC body in bytes. */
export interface RpcOutput {
  readonly status: 200 | 400;
  readonly body: Uint8Array<ArrayBuffer>;
  /** Upstream requests made for this answer. */
  readonly attempts: number;
  /** Where the answer came from and what it took, each distinct one of a batch; empty: from here. */
  readonly sources: readonly string[];
}

export interface RpcService {
  /** A network by decimal id or name. */
  findChain(text: string): Chain | undefined;
  /** Reads a message without judging its methods. */
  read(body: Uint8Array): RequestBody;
  /**
   * Answers a JSON-RPC request or an array of them.
   * @throws ApiError `UPSTREAM_UNREACHABLE` when no node answered a single request, and what
   *   `admit` throws
   */
  handle(input: RpcInput): Promise<RpcOutput>;
  /** An answer's bytes as the body of an HTTP response, which large ones leave as they are taken. */
  httpBody(body: Uint8Array<ArrayBuffer>): BodyInit;
}

/** Largest answer to one array; items beyond it are answered with an error. */
const MAX_BATCH_BYTES = 64 * 1024 * 1024;

const batchTooLarge: RpcFailure = { code: -32003, message: "response of the batch is too large" };

/** The JSON-RPC proxy over the upstream pool. */
export function createRpcService(options: RpcServiceOptions): RpcService {
  const { pool, registry, maxBatchItems } = options;
  const isRefused = createMethodPolicy(
    options.methods ?? { refusedMethods: [], allowedMethods: [] },
  );
  const proxy: Proxy = { pool, isRefused };
  return {
    httpBody: (body) => responseBody(body, pool.memory),
    findChain: (text) => findChain(registry, text),
    read: (body) => readRequestBody(body, maxBatchItems),
    async handle(input) {
      const { chain, request } = input;
      if (request.kind === "invalid") return invalid("null");
      if (request.kind === "single") {
        const { item } = request;
        if (!chain || !item.valid) return invalid(item.id);
        input.chargedChain(chain.id);
        const answer = await answerItem(proxy, chain, item, input);
        if ("failure" in answer) throw unreachableError(answer.retryAfterMs);
        return { status: 200, ...answer };
      }
      if (!chain) return invalid("null");
      await input.admit(request.items.length);
      input.chargedChain(chain.id);
      return answerBatch(proxy, chain, request.items, input);
    },
  };
}

/** A network by decimal id or name; digits with separators between them are neither. */
function findChain(registry: ChainRegistry, text: string): Chain | undefined {
  return /^\d+$/.test(text) || /[a-z]/i.test(text) ? registry.byName(text) : undefined;
}

function invalid(id: string): RpcOutput {
  return { status: 400, ...ownAnswer(errorBytes(id, invalidRequest)) };
}

type ItemAnswer = Omit<RpcOutput, "status">;

interface NoAnswer {
  readonly failure: RpcFailure;
  /** When an upstream is expected to be free again, where that is known. */
  readonly retryAfterMs: number | undefined;
}

/** What every item is answered with. */
interface Proxy {
  readonly pool: UpstreamPool;
  readonly isRefused: (method: string) => boolean;
}

function unreachableError(retryAfterMs: number | undefined): ApiError {
  if (retryAfterMs === undefined) return new ApiError("UPSTREAM_UNREACHABLE");
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  return new ApiError("UPSTREAM_UNREACHABLE", undefined, { "retry-after": String(seconds) });
}

/** An answer that needed no upstream. */
function ownAnswer(body: Uint8Array<ArrayBuffer>): ItemAnswer {
  return { body, attempts: 0, sources: [] };
}

function sourceOf({ source, hedged, retried }: RpcReply): string {
  return [source, ...(hedged ? ["hedged"] : []), ...(retried ? ["retried"] : [])].join("; ");
}

async function answerItem(
  { pool, isRefused }: Proxy,
  chain: Chain,
  item: RequestItem,
  input: RpcInput,
): Promise<ItemAnswer | NoAnswer> {
  if (!item.valid) return ownAnswer(errorBytes(item.id, invalidRequest));
  const { id, call } = item;
  const own = input.own?.(call);
  if (own) return ownAnswer(ownBytes(id, await own));
  if (isRefused(call.method)) {
    return ownAnswer(errorBytes(id, methodRefused(call.method)));
  }
  try {
    const { signal, caller } = input;
    const reply = await pool.call(chain.id, call, { signal, caller });
    return { body: withId(reply, id), attempts: reply.attempts, sources: [sourceOf(reply)] };
  } catch (error) {
    if (error instanceof UpstreamUnavailableError) {
      return { failure: unreachable, retryAfterMs: error.retryAfterMs };
    }
    throw error;
  }
}

function ownBytes(id: string, answer: OwnAnswer): Uint8Array<ArrayBuffer> {
  return "failure" in answer ? errorBytes(id, answer.failure) : resultBytes(id, answer.result);
}

/** Items run side by side, so a slow or failing one keeps none of the others from its answer. */
async function answerBatch(
  proxy: Proxy,
  chain: Chain,
  items: readonly RequestItem[],
  input: RpcInput,
): Promise<RpcOutput> {
  let size = 0;
  let attempts = 0;
  const sources = new Set<string>();
  const bodies = await Promise.all(
    items.map(async (item) => {
      const answer = await answerItem(proxy, chain, item, input);
      if ("failure" in answer) return errorBytes(item.id, answer.failure);
      attempts += answer.attempts;
      for (const source of answer.sources) sources.add(source);
      size += answer.body.length;
      return size > MAX_BATCH_BYTES ? errorBytes(item.id, batchTooLarge) : answer.body;
    }),
  );
  return { status: 200, body: joinBatch(bodies), attempts, sources: [...sources].sort() };
}

import type { CancelSignal } from "../lib/cancel.ts";
import { notAbortable, whenDone } from "../lib/whenDone.ts";
import type { Awaitable } from "../db/index.ts";
import type { Chain, ChainRegistry } from "../chains/index.ts";
import type { CallUnderWay, RpcCall, UpstreamPool } from "../upstream/index.ts";
import { errorBytes, invalidRequest, type RpcBody, type RpcFailure, wholeOf } from "./answer.ts";
import { BatchRun } from "./batchRun.ts";
import { ItemRun } from "./itemRun.ts";
import { responseBody } from "./body.ts";
import { createMethodPolicy, type MethodPolicyOptions } from "./policy.ts";
import { nullId, type RequestBody, type RequestId, readRequestBody } from "./request.ts";

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
  /**
   * Counts and charges the request as this many.
   * @throws ApiError `RATE_LIMIT_EXCEEDED`, `CU_ALLOWANCE_EXCEEDED`
   */
  admit(items: number): Awaitable<void>;
  /** Enters the charge under a chain. */
  chargedChain(chainId: number): void;
  /** Methods the connection answers itself; undefined for those it does not. */
  own?(call: RpcCall): Promise<OwnAnswer> | undefined;
}

/** Told what to answer: once, unless the caller left before; maybe before `start` returns. */
export interface RpcTarget {
  answered(output: RpcOutput): void;
  /**
   * @param error - ApiError `UPSTREAM_UNREACHABLE` when no node answered a single request, and what
   *   `admit` throws
   */
  failed(error: unknown): void;
}

/** What to answer. */
export interface RpcOutput {
  readonly status: 200 | 400;
  readonly body: RpcBody;
  /** Upstream requests made for this answer. */
  readonly attempts: number;
  /** Where the answer came from and what it took, each distinct one of a batch; empty: from here. */
  readonly source: string;
}

export interface RpcService {
  /** A network by decimal id or name. */
  findChain(text: string): Chain | undefined;
  /**
   * Reads a message without judging its methods.
   * @param from - where it begins; it ends with the bytes
   */
  read(bytes: Uint8Array, from?: number): RequestBody;
  /** Answers a JSON-RPC request or an array of them. @returns what ends it when the caller leaves */
  start(input: RpcInput, target: RpcTarget): CallUnderWay;
  /**
   * `start` for who can wait.
   * @throws what the target would be told
   */
  handle(input: RpcInput, signal: CancelSignal): Promise<RpcOutput>;
  /** An answer as the body of an HTTP response, which large ones leave as they are taken. */
  httpBody(body: RpcBody): BodyInit;
}

/** The JSON-RPC proxy over the upstream pool. */
export function createRpcService(options: RpcServiceOptions): RpcService {
  const { pool, registry, maxBatchItems } = options;
  const isRefused = createMethodPolicy(
    options.methods ?? { refusedMethods: [], allowedMethods: [] },
  );
  const proxy: Proxy = { pool, isRefused };
  const start = (input: RpcInput, target: RpcTarget): CallUnderWay => {
    const { chain, request } = input;
    if (chain && request.kind === "call") {
      input.chargedChain(chain.id);
      return new ItemRun(proxy, chain, request, input, target).start();
    }
    if (chain && request.kind === "batch") {
      return new BatchRun(proxy, chain, input, target).start(request.items);
    }
    target.answered(invalid(request.kind === "batch" ? nullId : request.id));
    return notAbortable;
  };
  return {
    httpBody: (body) => responseBody(wholeOf(body), pool.memory),
    findChain: (text) => findChain(registry, text),
    read: (bytes, from) => readRequestBody(bytes, maxBatchItems, from),
    start,
    handle: (input, signal) =>
      whenDone(signal, (answered, failed) => start(input, { answered, failed })),
  };
}

/** A network by decimal id or name; digits with separators between them are neither. */
function findChain(registry: ChainRegistry, text: string): Chain | undefined {
  return /^\d+$/.test(text) || /[a-z]/i.test(text) ? registry.byName(text) : undefined;
}

function invalid(id: RequestId): RpcOutput {
  return { status: 400, body: errorBytes(id, invalidRequest), attempts: 0, source: "" };
}

/** What every item is answered with. */
export interface Proxy {
  readonly pool: UpstreamPool;
  readonly isRefused: (method: string) => boolean;
}

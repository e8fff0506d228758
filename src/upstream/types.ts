import type { CancelSignal } from "../lib/cancel.ts";
import type { Transport } from "viem";
import type { UpstreamData } from "../config/index.ts";
import type { PaceStatus } from "./limits.ts";
import type { AnswerMemory } from "./memory.ts";

/** A JSON-RPC call on its way to a chain, without id. */
export interface RpcCall {
  readonly method: string;
  /** Raw JSON text of the `params` member; undefined when the caller left it out. */
  readonly params: string | undefined;
}

export interface CallOptions {
  /** Aborts when the caller went away; broadcasts ignore it. */
  readonly signal?: CancelSignal;
  /** Total time allowed over all attempts, ms. */
  readonly deadlineMs?: number;
  /** API key id, for views that must not move backwards per caller. */
  readonly caller?: string;
}

/** Told how a call ended: once, unless it was aborted. */
export interface ReplyTarget {
  replied(reply: RpcReply): void;
  /** @param error - UpstreamUnavailableError where no node answered */
  failed(error: unknown): void;
}

/** A call under way. */
export interface CallUnderWay {
  /** The caller went away; its target is told nothing more. Broadcasts go on. */
  abort(): void;
}

/** A node's answer, kept as the bytes it sent. */
export interface RpcReply {
  /** The whole JSON-RPC response object as received. */
  readonly bytes: Uint8Array;
  /** Where the value of the top-level `id` member stands in `bytes`; undefined when absent. */
  readonly id: { readonly start: number; readonly end: number } | undefined;
  /** True when the object carries an `error` that is the caller's to see, such as a revert. */
  readonly isError: boolean;
  /** Name of the upstream that answered: its host, never its full URL. */
  readonly upstream: string;
  /** Upstream requests made for this call; none for what others' calls or memory answered. */
  readonly attempts: number;
  readonly source: ReplySource;
  /** A second upstream was asked because the first was slow. */
  readonly hedged: boolean;
  /** An upstream was asked after another had failed, or had been behind. */
  readonly retried: boolean;
}

/**
 * Where an answer came from: a node asked for this call, the same call of another caller under way,
 * a result kept because it cannot change, or what the service knows of the chain itself.
 */
export type ReplySource = "upstream" | "shared" | "cache" | "local";

/** No upstream of the chain gave an answer within the deadline. */
export class UpstreamUnavailableError extends Error {
  override readonly name = "UpstreamUnavailableError";

  /** @param retryAfterMs - when an upstream is expected to be free again, where that is known */
  constructor(
    message: string,
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

/** Why an upstream is not attached. */
export type UpstreamRefusal = "unknown-chain" | "attached-already" | "wrong-chain" | "silent";

/** An upstream cannot be attached; nothing changed. */
export class UpstreamRefusedError extends Error {
  override readonly name = "UpstreamRefusedError";
  constructor(readonly reason: UpstreamRefusal) {
    super(`upstream refused: ${reason}`);
  }
}

/** The node at a caller's URL answers, but for another chain. */
export class WrongChainError extends UpstreamUnavailableError {}

/** The parts of one upstream's score, for the status page and metrics. */
export interface UpstreamStatus {
  /** Names the upstream where it is drained or removed; its URL cannot be told from it. */
  readonly id: string;
  readonly chainId: number;
  /** Host, numbered where several upstreams share it. */
  readonly name: string;
  /** `idle` before its chain's first call; `draining` ends with the calls under way. */
  readonly state: "idle" | "probing" | "active" | "ejected" | "wrong-chain" | "draining";
  /** Why it was ejected, or gets no calls although active, in a word. */
  readonly reason: string | undefined;
  /** Expected cost of the next request, ms; the sum of the parts below. */
  readonly costMs: number;
  readonly parts: {
    readonly latencyMs: number;
    readonly errorMs: number;
    readonly queueMs: number;
    readonly lagMs: number;
  };
  readonly errorRate: number;
  readonly inFlight: number;
  readonly maxConcurrent: number;
  /** Declared and learned limits of its account. */
  readonly pace: PaceStatus;
  /** Methods it lately said it does not serve. */
  readonly lacks: readonly string[];
  /** Most calls sent to it as one array; undefined where each is sent alone. */
  readonly batchItems: number | undefined;
  readonly head: number | undefined;
  readonly requests: number;
  readonly failures: number;
}

/** Every way to reach a chain. */
export interface UpstreamPool {
  /**
   * Sends one call to the best upstream, and to others when it fails.
   * @throws UpstreamUnavailableError when none answered
   */
  call(chainId: number, call: RpcCall, options?: CallOptions): Promise<RpcReply>;
  /**
   * The same for the busiest path, which makes no promise. What is known already is told before
   * this returns.
   */
  start(
    chainId: number,
    call: RpcCall,
    options: Omit<CallOptions, "signal">,
    target: ReplyTarget,
  ): CallUnderWay;
  /** A viem transport that sends through the pool. */
  transport(chainId: number): Transport;
  /**
   * A viem transport over one URL given by a caller: the configured upstream's own connections
   * when the URL is one of them, else a short-lived upstream behind `connect`'s guard.
   */
  externalTransport(chainId: number, url: string): Transport;
  /**
   * One call over the same connections as `externalTransport`, answered with the node's own bytes.
   * @throws ApiError when the guard refuses the URL, WrongChainError, UpstreamUnavailableError
   */
  externalCall(
    chainId: number,
    url: string,
    call: RpcCall,
    options?: CallOptions,
  ): Promise<RpcReply>;
  /** Highest block any upstream of the chain has shown. */
  head(chainId: number): number | undefined;
  /** Every upstream of every chain, those that are being drained too. */
  status(): readonly UpstreamStatus[];
  /**
   * Adds an upstream to a chain. It is asked for the chain id and its head first, and used only
   * when both are right.
   * @throws UpstreamRefusedError
   */
  attach(chainId: number, upstream: UpstreamData): Promise<UpstreamStatus>;
  /**
   * Sends an upstream no more calls; those under way are answered. It stays listed.
   * @returns false when no upstream has this id
   */
  drain(id: string): boolean;
  /**
   * Drains an upstream and closes its connections once its calls have ended.
   * @returns false when no upstream has this id
   */
  remove(id: string): Promise<boolean>;
  /** Memory of answers on their way from a node to a caller. */
  readonly memory: AnswerMemory;
  /** Stops polling and closes connections. */
  close(): void;
}

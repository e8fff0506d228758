import type { Transport } from "viem";

/** A JSON-RPC call on its way to a chain, without id. */
export interface RpcCall {
  readonly method: string;
  /** Raw JSON text of the `params` member; undefined when the caller left it out. */
  readonly params: string | undefined;
}

export interface CallOptions {
  /** Aborts when the caller went away; broadcasts ignore it. */
  readonly signal?: AbortSignal;
  /** Total time allowed over all attempts, ms. */
  readonly deadlineMs?: number;
  /** API key id, for views that must not move backwards per caller. */
  readonly caller?: string;
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
  /** Upstream requests made for this call. */
  readonly attempts: number;
}

/** No upstream of the chain gave an answer within the deadline. */
export class UpstreamUnavailableError extends Error {
  override readonly name = "UpstreamUnavailableError";
}

/** The node at a caller's URL answers, but for another chain. */
export class WrongChainError extends UpstreamUnavailableError {}

/** The parts of one upstream's score, for the status page and metrics. */
export interface UpstreamStatus {
  readonly chainId: number;
  readonly name: string;
  readonly state: "active" | "probing" | "ejected" | "wrong-chain";
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
  status(): readonly UpstreamStatus[];
  /** Stops polling and closes connections. */
  close(): void;
}

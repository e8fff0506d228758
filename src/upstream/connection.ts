import type { CancelSignal } from "../lib/cancel.ts";
import type { AnswerMemory } from "./memory.ts";

/** An HTTP answer read to its end. */
export interface HttpAnswer {
  readonly status: number;
  /** Value of `Retry-After`, when sent. */
  readonly retryAfter: string | null;
  /** The body, decompressed. */
  readonly bytes: Uint8Array;
  /** Set where this is one item's part of the answer to several requests. */
  readonly isShared?: boolean;
}

/** Why there is no complete HTTP answer. */
export type ConnectionFault =
  /** No connection, or it broke before the answer was complete. */
  | "unreachable"
  /** The answer broke off after it had begun. */
  | "truncated"
  /** What came is not an answer in HTTP. */
  | "malformed"
  /** The answer is larger than allowed. */
  | "too-large"
  /** The answers under way take all the memory there is for them. */
  | "no-memory"
  /** The node sent us elsewhere; a POST is never redirected. */
  | "redirect"
  /** The caller's signal ended the request. */
  | "aborted";

/** Carries no URL and no text of the node, as either may hold a secret. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  constructor(readonly fault: ConnectionFault) {
    super(`upstream connection: ${fault}`);
  }
}

export interface SendOptions {
  /** Ends the request, whatever its state. */
  readonly signal: CancelSignal;
  /** Largest body accepted, after decompression. */
  readonly maxBytes: number;
  /** Counts the answer's bytes while it is read. */
  readonly memory: AnswerMemory;
}

/** One upstream's own keep-alive connections. */
export interface Connection {
  /**
   * Posts a JSON body and reads the answer whole.
   * @throws ConnectionError
   */
  send(body: string, options: SendOptions): Promise<HttpAnswer>;
  /** Closes idle connections. */
  close(): void;
}

/** Makes a node's connections; replaced where another HTTP client is to be used. */
export type Connect = (url: URL, address?: string) => Connection;

/** The same connection, which reads no answer above `maxBytes`. */
export function cappedConnection(connection: Connection, maxBytes: number): Connection {
  return {
    send: (body, options) =>
      connection.send(body, { ...options, maxBytes: Math.min(options.maxBytes, maxBytes) }),
    close: () => connection.close(),
  };
}

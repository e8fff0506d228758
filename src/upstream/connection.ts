import type { AnswerMemory } from "./memory.ts";
import type { NodeAnswer } from "./nodeAnswer.ts";
import type { RequestText } from "./requestText.ts";

/** An HTTP answer read to its end. */
export interface HttpAnswer {
  readonly status: number;
  /** Value of `Retry-After`, when sent. */
  readonly retryAfter: string | null;
  /** The body, decompressed. */
  readonly bytes: Uint8Array;
  /** Set where this is one item's part of the answer to several requests. */
  readonly isShared?: boolean;
  /** The response object in the body, where it was read already. */
  readonly answer?: NodeAnswer | undefined;
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

/** What bounds an answer. */
export interface AnswerLimits {
  /** Largest body accepted, after decompression. */
  readonly maxBytes: number;
  /** Counts the answer's bytes while it is read. */
  readonly memory: AnswerMemory;
}

/** Told how a request ended: once, by one of the two, and never before `post` has returned. */
export interface AnswerTarget {
  answered(answer: HttpAnswer): void;
  faulted(fault: ConnectionFault): void;
}

/** A request under way. */
export interface Sending {
  /** Ends it, whatever its state. Its target is told nothing more. */
  drop(): void;
}

/** One upstream's own keep-alive connections. */
export interface Connection {
  /**
   * Posts a JSON body and reads the answer whole. Every call passes through here, so it takes an
   * object to call back and makes no promise.
   */
  post(body: RequestText, limits: AnswerLimits, target: AnswerTarget): Sending;
  /** Closes idle connections. */
  close(): void;
}

/** Makes a node's connections; replaced where another HTTP client is to be used. */
export type Connect = (url: URL, address?: string) => Connection;

/** The same connection, which reads no answer above `maxBytes`. */
export function cappedConnection(connection: Connection, maxBytes: number): Connection {
  return {
    post: (body, limits, target) =>
      connection.post(body, { ...limits, maxBytes: Math.min(limits.maxBytes, maxBytes) }, target),
    close: () => connection.close(),
  };
}

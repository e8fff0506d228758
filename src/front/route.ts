import type { Admitted, OperationId } from "../access/index.ts";
import type { PlainAnswer } from "../lib/http.ts";

/** A request the gate let in. */
export interface FrontRequest {
  /** The path's last segment. */
  readonly segment: string;
  readonly bytes: Uint8Array;
  /** Where the body begins; it ends with the bytes. */
  readonly bodyAt: number;
  readonly passage: Admitted;
}

/** Told how a request ended, once. */
export interface Replies {
  reply(answer: PlainAnswer): void;
  fail(error: unknown): void;
}

/** What the front answers itself: POST to one path. */
export interface FrontRoute {
  readonly operation: OperationId;
  /** The path without its last segment. */
  readonly prefix: string;
  /** @returns what ends the work when the client hangs up */
  answer(request: FrontRequest, to: Replies): { abort(): void };
  /** The answer to a body above the limit. */
  tooLarge(): PlainAnswer;
}

import type { Admitted, OperationId } from "../access/index.ts";
import type { CancelSignal } from "../lib/cancel.ts";
import type { PlainAnswer } from "../lib/http.ts";

/** A request the gate let in. */
export interface FrontRequest {
  /** The path's last segment. */
  readonly segment: string;
  readonly body: Uint8Array;
  readonly passage: Admitted;
  /** Ends when the client hangs up. */
  readonly signal: CancelSignal;
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
  answer(request: FrontRequest, to: Replies): void;
  /** The answer to a body above the limit. */
  tooLarge(): PlainAnswer;
}

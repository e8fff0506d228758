import type { RetryReason } from "./classify.ts";
import type { MethodClass } from "./methodClass.ts";
import type { ReplySource } from "./types.ts";

/** How one request to an upstream ended. */
export type AttemptOutcome =
  "answer" | "error-answer" | "limited" | "refused" | "redirect" | "aborted" | RetryReason;

/** Told about everything that happens in the pool; names are hosts, never URLs. */
export interface UpstreamObserver {
  attempt?(event: {
    readonly chainId: number;
    readonly upstream: string;
    readonly kind: MethodClass;
    readonly outcome: AttemptOutcome;
    readonly latencyMs: number;
  }): void;
  call?(event: {
    readonly chainId: number;
    readonly kind: MethodClass;
    readonly outcome: "answer" | "unavailable" | "aborted";
    readonly attempts: number;
    readonly hedged: boolean;
    readonly durationMs: number;
  }): void;
  read?(event: {
    readonly chainId: number;
    readonly source: ReplySource;
    /** False for a method, or params, whose block references are not understood. */
    readonly isKnown: boolean;
  }): void;
  state?(event: {
    readonly chainId: number;
    readonly upstream: string;
    readonly state: "active" | "ejected" | "wrong-chain";
    /** Why it was ejected, in a word. */
    readonly reason?: string | undefined;
  }): void;
}

import type { Verdict } from "./classify.ts";
import {
  type Health,
  newHealth,
  recordAnswer,
  recordFailedProbe,
  recordFailure,
  recordOvertaken,
} from "./health.ts";
import type { MethodClass } from "./methodClass.ts";
import { MethodMemory } from "./methodMemory.ts";
import type { UpstreamObserver } from "./observer.ts";

export interface RecordOptions {
  readonly chainId: number;
  /** Name of the upstream. */
  readonly name: string;
  readonly observer: UpstreamObserver;
  /** Whether another upstream of the chain is in use. */
  readonly hasPeer: () => boolean;
  /** Called after a sign that the upstream may be sick. */
  readonly onFault: () => void;
}

/** What one upstream has shown so far, as far as later choices depend on it. Times monotonic, ms. */
export class UpstreamRecord {
  readonly health: Health = newHealth();
  /** Methods it lately said it does not serve. */
  readonly lacking = new MethodMemory();
  requests = 0;
  failures = 0;
  lastAnswerMs = 0;
  /** Why it was ejected the last time. */
  reason: string | undefined;

  constructor(private readonly options: RecordOptions) {}

  get isEjected(): boolean {
    return this.health.probeAtMs !== undefined;
  }

  /** Learns from the outcome of a request. */
  note(
    verdict: Verdict,
    method: string,
    kind: MethodClass,
    latencyMs: number,
    nowMs: number,
  ): void {
    const { chainId, name, observer } = this.options;
    if (verdict.kind === "retry" && verdict.reason === "timeout") {
      recordOvertaken(this.health, kind, latencyMs, nowMs);
    }
    if (isAnswer(verdict)) this.#noteAnswer(verdict, method, kind, latencyMs, nowMs);
    if (verdict.kind === "reject" || (verdict.kind === "retry" && verdict.fault)) {
      this.#noteFailure(verdict, kind, nowMs);
    }
    const outcome = outcomeOf(verdict);
    observer.attempt?.({ chainId, upstream: name, kind, outcome, latencyMs });
  }

  #noteAnswer(
    verdict: Verdict,
    method: string,
    kind: MethodClass,
    latencyMs: number,
    nowMs: number,
  ): void {
    this.lastAnswerMs = nowMs;
    recordAnswer(this.health, kind, latencyMs, nowMs);
    const isLacking = verdict.kind === "retry" && verdict.reason === "unsupported-method";
    if (isLacking) this.lacking.note(method, nowMs);
    else if (verdict.kind === "deliver") this.lacking.forget(method);
  }

  #noteFailure(
    verdict: Extract<Verdict, { kind: "retry" | "reject" }>,
    kind: MethodClass,
    nowMs: number,
  ): void {
    this.failures++;
    if (recordFailure(this.health, kind, nowMs, this.options.hasPeer())) {
      this.reason = verdict.reason;
      this.#announceEjection();
    }
    // What refuses us now will refuse the next call too; only a probe can tell that it changed.
    if (verdict.kind === "reject" && !this.isEjected) this.eject(verdict.reason, nowMs);
    this.options.onFault();
  }

  /** Notes that a request was given up because another upstream had answered. */
  noteOvertaken(kind: MethodClass, elapsedMs: number, nowMs: number): void {
    recordOvertaken(this.health, kind, elapsedMs, nowMs);
    this.options.onFault();
  }

  /** Takes the upstream out of use until a probe succeeds. */
  eject(reason: string, nowMs: number): void {
    const wasEjected = this.isEjected;
    if (!wasEjected) this.reason = reason;
    recordFailedProbe(this.health, nowMs);
    if (!wasEjected) this.#announceEjection();
  }

  #announceEjection(): void {
    const { chainId, name, observer } = this.options;
    observer.state?.({ chainId, upstream: name, state: "ejected", reason: this.reason });
  }
}

/** Whether the node did answer, if only with an error of the call's own. */
export function isAnswer(verdict: Verdict): boolean {
  if (verdict.kind === "deliver") return true;
  return verdict.kind === "retry" && verdict.answer !== undefined && !verdict.fault;
}

function outcomeOf(verdict: Verdict) {
  if (verdict.kind === "deliver") return verdict.answer.error ? "error-answer" : "answer";
  return verdict.kind === "retry" || verdict.kind === "reject" ? verdict.reason : verdict.kind;
}

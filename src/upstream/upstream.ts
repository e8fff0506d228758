import type { Clock } from "../lib/clock.ts";
import { textOf } from "../lib/jsonSpan.ts";
import { classifyAnswer, classifyFault, type Verdict } from "./classify.ts";
import { type Connection, ConnectionError } from "./connection.ts";
import {
  type CostContext,
  expectedCost,
  newHealth,
  p95Ms,
  recordAnswer,
  recordFailedProbe,
  recordFailure,
  recordOvertaken,
  totalCost,
} from "./health.ts";
import type { Pace } from "./limits.ts";
import type { MethodClass } from "./methodClass.ts";
import type { UpstreamObserver } from "./observer.ts";
import type { RpcCall, UpstreamStatus } from "./types.ts";

/** Shortest and longest time one attempt may take; between them, four times its p95. */
const MIN_ATTEMPT_MS = 1_500;
const MAX_ATTEMPT_MS = 10_000;
/** Shortest time where giving up leads nowhere else. */
const MIN_LONELY_ATTEMPT_MS = 5_000;
/** Largest answer accepted. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export interface UpstreamOptions {
  readonly chainId: number;
  /** Host, with an index where several share it. */
  readonly name: string;
  readonly connection: Connection;
  readonly pace: Pace;
  readonly maxConcurrent: number;
  readonly clock: Clock;
  readonly observer: UpstreamObserver;
  /** Whether another upstream of the chain is in use. */
  readonly hasPeer: (self: Upstream) => boolean;
  /** Called after a sign that the upstream may be sick. */
  readonly onFault: (self: Upstream) => void;
  /** Called when the upstream may accept one more request. */
  readonly onFree: () => void;
}

/** Whether a node was shown to serve the chain it is configured for. */
export type Identity = "unknown" | "right" | "wrong";

let lastId = 0;

/** One node: its connections, its health, its load. */
export class Upstream {
  readonly health = newHealth();
  identity: Identity = "unknown";
  inFlight = 0;
  #lastAnswerMs = 0;
  #requests = 0;
  #failures = 0;

  constructor(readonly options: UpstreamOptions) {}

  get name(): string {
    return this.options.name;
  }

  get ejected(): boolean {
    return this.health.probeAtMs !== undefined;
  }

  /** Whether calls may be sent here as far as identity and health go. */
  get usable(): boolean {
    return this.identity === "right" && !this.ejected;
  }

  /** Time until pace and concurrency admit a request, ms; infinite while at its limit in flight. */
  admissionWaitMs(nowMs: number): number {
    if (this.inFlight >= this.options.maxConcurrent) return Number.POSITIVE_INFINITY;
    return this.options.pace.waitMs(nowMs);
  }

  /** Expected cost of the next request of this class, ms. */
  costMs(kind: MethodClass, context: ChainContext): number {
    return totalCost(expectedCost(this.health, kind, this.#costContext(context)));
  }

  /**
   * Time after which an attempt is given up, ms. Each further attempt of a call has twice the time,
   * so that a call which takes long everywhere is still answered.
   * @param earlier - attempts made for the call before
   * @param isAlone - no other upstream could be asked instead
   */
  attemptTimeoutMs(kind: MethodClass, earlier: number, isAlone: boolean): number {
    if (kind === "heavy") return MAX_ATTEMPT_MS;
    const floorMs = isAlone ? MIN_LONELY_ATTEMPT_MS : MIN_ATTEMPT_MS;
    const usualMs = Math.max(floorMs, 4 * p95Ms(this.health, kind));
    return Math.min(MAX_ATTEMPT_MS, usualMs * 2 ** earlier);
  }

  /**
   * Takes a place for one request, so that choosing an upstream and counting the request are one
   * step. Ends with `attempt`, or with `release` when nothing is sent.
   */
  reserve(): this {
    this.inFlight++;
    this.options.pace.spend(this.options.clock.monotonic());
    return this;
  }

  /** Gives a place back. */
  release(): void {
    this.inFlight--;
    this.options.onFree();
  }

  /**
   * Sends one request in a reserved place and learns from its outcome. Never rejects.
   * @param timeoutMs - time allowed for this attempt
   * @param cancel - ends it early: the caller left, or another upstream was faster
   */
  async attempt(
    call: RpcCall,
    kind: MethodClass,
    timeoutMs: number,
    cancel: AbortController,
  ): Promise<Verdict> {
    const { clock, connection } = this.options;
    const startMs = clock.monotonic();
    const id = (lastId = lastId >= 0x7fff_ffff ? 1 : lastId + 1);
    this.#requests++;
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      cancel.abort();
    }, timeoutMs);
    let verdict: Verdict;
    try {
      const answer = await connection.send(encodeCall(call, id), {
        signal: cancel.signal,
        maxBytes: MAX_ANSWER_BYTES,
      });
      verdict = classifyAnswer(answer, id, clock.now());
    } catch (error) {
      const fault = error instanceof ConnectionError ? error.fault : "unreachable";
      verdict =
        timedOut && fault === "aborted" ? this.#judgeTimeout(startMs) : classifyFault(fault);
    } finally {
      clearTimeout(timer);
    }
    this.#learn(verdict, kind, clock.monotonic() - startMs);
    this.release();
    return verdict;
  }

  /** A node that answered others meanwhile is not dead; this call takes long. */
  #judgeTimeout(startMs: number): Verdict {
    const isAlive = this.#lastAnswerMs > startMs;
    return isAlive ? { kind: "retry", reason: "timeout", fault: false } : classifyFault("timeout");
  }

  /** Notes that a request here was given up because another upstream had answered. */
  overtaken(kind: MethodClass, elapsedMs: number): void {
    recordOvertaken(this.health, kind, elapsedMs, this.options.clock.monotonic());
    this.options.onFault(this);
  }

  /** Takes the upstream out of use until a probe succeeds. */
  eject(): void {
    const wasEjected = this.ejected;
    recordFailedProbe(this.health, this.options.clock.monotonic());
    if (!wasEjected) this.#announce("ejected");
  }

  status(context: ChainContext): UpstreamStatus {
    const parts = expectedCost(this.health, "read", this.#costContext(context));
    return {
      chainId: this.options.chainId,
      name: this.name,
      state: this.#state(),
      costMs: totalCost(parts),
      parts,
      errorRate: this.health.classes.read.errorRate,
      inFlight: this.inFlight,
      head: this.health.head,
      requests: this.#requests,
      failures: this.#failures,
    };
  }

  #state(): UpstreamStatus["state"] {
    if (this.identity === "wrong") return "wrong-chain";
    if (this.ejected) return "ejected";
    return this.identity === "right" ? "active" : "probing";
  }

  #costContext(context: ChainContext): CostContext {
    return { ...context, inFlight: this.inFlight, maxConcurrent: this.options.maxConcurrent };
  }

  #learn(verdict: Verdict, kind: MethodClass, latencyMs: number): void {
    const { clock, observer, pace, chainId } = this.options;
    const nowMs = clock.monotonic();
    if (verdict.kind === "retry" && verdict.reason === "timeout") {
      recordOvertaken(this.health, kind, latencyMs, nowMs);
    }
    if (
      verdict.kind === "deliver" ||
      (verdict.kind === "retry" && verdict.answer && !verdict.fault)
    ) {
      this.#lastAnswerMs = nowMs;
      pace.accept();
      recordAnswer(this.health, kind, latencyMs, nowMs);
    } else if (verdict.kind === "limited") {
      pace.refuse(nowMs, verdict.retryAfterMs);
    }
    if (verdict.kind === "reject" || (verdict.kind === "retry" && verdict.fault)) {
      this.#failures++;
      const othersInUse = this.options.hasPeer(this);
      if (recordFailure(this.health, kind, nowMs, othersInUse)) this.#announce("ejected");
      // What refuses us now will refuse the next call too; only a probe can tell that it changed.
      if (verdict.kind === "reject" && !this.ejected) this.eject();
      this.options.onFault(this);
    }
    observer.attempt?.({ chainId, upstream: this.name, kind, outcome: nameOf(verdict), latencyMs });
  }

  #announce(state: "ejected"): void {
    this.options.observer.state?.({ chainId: this.options.chainId, upstream: this.name, state });
  }
}

/** What a chain's upstreams share when their costs are compared. */
export type ChainContext = Pick<CostContext, "nowMs" | "chainHead" | "blockTimeMs">;

function encodeCall(call: RpcCall, id: number): string {
  const method = JSON.stringify(call.method);
  return `{"jsonrpc":"2.0","id":${id},"method":${method},"params":${call.params ?? "[]"}}`;
}

function nameOf(verdict: Verdict) {
  if (verdict.kind === "deliver") return verdict.answer.error ? "error-answer" : "answer";
  return verdict.kind === "retry" || verdict.kind === "reject" ? verdict.reason : verdict.kind;
}

/** The parsed `result` of a delivered answer; undefined for any other verdict. */
export function resultOf(verdict: Verdict): unknown {
  if (verdict.kind !== "deliver" || verdict.answer.error || !verdict.answer.result)
    return undefined;
  return JSON.parse(textOf(verdict.answer.bytes, verdict.answer.result));
}

import { createHash } from "node:crypto";
import type { Clock } from "../lib/clock.ts";
import { textOf } from "../lib/jsonSpan.ts";
import { Batcher, type BatchData } from "./batch.ts";
import { classifyAnswer, classifyFault, type JudgeError, type Verdict } from "./classify.ts";
import {
  type Connection,
  ConnectionError,
  type HttpAnswer,
  type SendOptions,
} from "./connection.ts";
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
import type { AnswerMemory } from "./memory.ts";
import type { MethodClass } from "./methodClass.ts";
import { MethodMemory } from "./methodMemory.ts";
import type { UpstreamObserver } from "./observer.ts";
import { withoutSecrets } from "./secrets.ts";
import type { Sent } from "./slidingWindow.ts";
import type { RpcCall, UpstreamStatus } from "./types.ts";

/** Shortest and longest time one attempt may take; between them, four times its p95. */
const MIN_ATTEMPT_MS = 1_500;
const MAX_ATTEMPT_MS = 10_000;
/** Shortest time where giving up leads nowhere else. */
const MIN_LONELY_ATTEMPT_MS = 5_000;
/** Largest answer accepted. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Shortest time after which the items of a batch no longer wait for each other. */
const MIN_BATCH_PATIENCE_MS = 250;
/** A node notices within this time that we hung up; until then its place stays taken. */
const MAX_GOODBYE_MS = 100;
/** Pause between looks whether a place became free for the watch. */
const PLACE_NAP_MS = 20;

export interface UpstreamOptions {
  readonly chainId: number;
  /** Names the upstream in the console; see `upstreamId`. */
  readonly id: string;
  /** Host, with an index where several share it. */
  readonly name: string;
  readonly connection: Connection;
  /** What of its URL must not appear in an answer. */
  readonly secrets: readonly Uint8Array[];
  readonly batch: BatchData | undefined;
  readonly memory: AnswerMemory;
  readonly pace: Pace;
  readonly maxConcurrent: number;
  /** What the errors of this family of chains mean. */
  readonly judgeError: JudgeError | undefined;
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

/** Stable name of a chain's upstream, from which its URL cannot be told. */
export function upstreamId(chainId: number, url: string): string {
  const { href } = new URL(url);
  return createHash("sha256").update(`${chainId} ${href}`).digest("hex").slice(0, 12);
}

let lastId = 0;

/** One node: its connections, its health, its load. */
export class Upstream {
  readonly health = newHealth();
  identity: Identity = "unknown";
  inFlight = 0;
  /** True once it takes no more calls and ends with those under way. */
  isLeaving = false;
  /** Why it is not in use; undefined while it is. */
  #reason: string | undefined;
  #lastAnswerMs = 0;
  #requests = 0;
  #failures = 0;
  readonly #lacking = new MethodMemory();
  readonly #batcher: Batcher | undefined;
  /** What the pace counted for places that are taken and not yet used. */
  readonly #places: Sent[] = [];

  constructor(readonly options: UpstreamOptions) {
    this.#batcher = options.batch && this.#newBatcher(options.batch);
  }

  get name(): string {
    return this.options.name;
  }

  get ejected(): boolean {
    return this.health.probeAtMs !== undefined;
  }

  /** Whether calls may be sent here as far as identity and health go. */
  get usable(): boolean {
    return this.identity === "right" && !this.ejected && !this.isLeaving;
  }

  /** Whether the node said lately that it does not serve a method. */
  lacks(method: string): boolean {
    return this.#lacking.lacks(method, this.options.clock.monotonic());
  }

  /**
   * Time until pace and concurrency admit a request, ms; infinite while at its limit in flight.
   * @param isWatch - for the watch's own requests, which callers leave a place
   */
  admissionWaitMs(nowMs: number, isWatch = false): number {
    if (this.inFlight >= this.options.maxConcurrent) return Number.POSITIVE_INFINITY;
    return this.options.pace.waitMs(nowMs, isWatch);
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
    const { batch, clock, pace } = this.options;
    const nowMs = clock.monotonic();
    this.inFlight++;
    // Where whole batches are counted, the batch is, once it is sent.
    const isCounted = batch?.countAs !== "requests";
    this.#places.push(isCounted ? pace.spend(nowMs) : { sentAtMs: nowMs, settledAtMs: undefined });
    return this;
  }

  /** Gives a place back from which nothing was sent. */
  release(): void {
    const place = this.#places.shift();
    if (place) this.options.pace.cancel(place);
    this.#leave();
  }

  #leave(): void {
    this.inFlight--;
    this.options.onFree();
  }

  /**
   * Sends a request of the watch, or one that must go to this very node, once there is a place for
   * it. Never rejects.
   * @param timeoutMs - time allowed for waiting and for the answer
   */
  async ask(call: RpcCall, timeoutMs: number): Promise<Verdict> {
    const { clock, pace } = this.options;
    const untilMs = clock.monotonic() + timeoutMs;
    const stopWaiting = pace.awaitWatch();
    try {
      for (;;) {
        const nowMs = clock.monotonic();
        const waitMs = this.admissionWaitMs(nowMs, true);
        if (waitMs === 0) break;
        const leftMs = untilMs - nowMs;
        if (leftMs <= 0 || (Number.isFinite(waitMs) && waitMs > leftMs)) {
          return { kind: "retry", reason: "busy", fault: false };
        }
        await Bun.sleep(Math.min(waitMs, leftMs, PLACE_NAP_MS));
      }
    } finally {
      stopWaiting();
    }
    const leftMs = Math.max(1, untilMs - clock.monotonic());
    return this.reserve().attempt(call, "read", leftMs, new AbortController(), true);
  }

  /**
   * Sends one request in a reserved place and learns from its outcome. Never rejects.
   * @param timeoutMs - time allowed for this attempt
   * @param cancel - ends it early: the caller left, or another upstream was faster
   * @param isAlone - false where it may be sent together with others
   */
  async attempt(
    call: RpcCall,
    kind: MethodClass,
    timeoutMs: number,
    cancel: AbortController,
    isAlone = kind !== "read",
  ): Promise<Verdict> {
    const { clock, judgeError, memory, pace, secrets } = this.options;
    const startMs = clock.monotonic();
    const place = this.#places.shift() ?? { sentAtMs: startMs, settledAtMs: undefined };
    const id = (lastId = lastId >= 0x7fff_ffff ? 1 : lastId + 1);
    this.#requests++;
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      cancel.abort();
    }, timeoutMs);
    let verdict: Verdict;
    try {
      const options = { signal: cancel.signal, maxBytes: MAX_ANSWER_BYTES, memory };
      const answer = await this.#exchange(call, id, options, isAlone);
      const meaning = classifyAnswer(answer, id, clock.now(), judgeError);
      verdict = withoutSecrets(meaning, secrets);
    } catch (error) {
      const fault = error instanceof ConnectionError ? error.fault : "unreachable";
      verdict =
        timedOut && fault === "aborted" ? this.#judgeTimeout(startMs) : classifyFault(fault);
    } finally {
      clearTimeout(timer);
    }
    const endMs = clock.monotonic();
    pace.settle(place, endMs);
    this.#keepPace(verdict, place, endMs);
    this.#learn(verdict, call.method, kind, endMs - startMs);
    if (isGivenUp(verdict)) setTimeout(() => this.#leave(), this.#goodbyeMs(kind)).unref();
    else this.#leave();
    return verdict;
  }

  /** How long the node may still work on a request that we gave up, ms. */
  #goodbyeMs(kind: MethodClass): number {
    return Math.min(MAX_GOODBYE_MS, this.health.classes[kind].latencyMs);
  }

  #exchange(
    call: RpcCall,
    id: number,
    options: SendOptions,
    isAlone: boolean,
  ): Promise<HttpAnswer> {
    const text = encodeCall(call, id);
    const item = { id, method: call.method, text };
    if (!this.#batcher) return this.options.connection.send(text, options);
    return isAlone ? this.#batcher.sendAlone(item, options) : this.#batcher.send(item, options);
  }

  #newBatcher(batch: BatchData): Batcher {
    const { clock, connection, pace } = this.options;
    return new Batcher({
      connection,
      batch,
      now: () => clock.monotonic(),
      patienceMs: () => Math.max(MIN_BATCH_PATIENCE_MS, 2 * p95Ms(this.health, "read")),
      answeredSince: (ms) => this.#lastAnswerMs > ms,
      admit: async (signal) => {
        for (;;) {
          signal.throwIfAborted();
          const waitMs = pace.waitMs(clock.monotonic());
          if (waitMs === 0) break;
          await clock.sleep(Math.min(waitMs, 250), signal);
        }
        const sent = pace.spend(clock.monotonic());
        return () => pace.settle(sent, clock.monotonic());
      },
    });
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
  eject(reason = "silent"): void {
    const wasEjected = this.ejected;
    if (!wasEjected) this.#reason = reason;
    recordFailedProbe(this.health, this.options.clock.monotonic());
    if (!wasEjected) this.#announce("ejected");
  }

  status(context: ChainContext): UpstreamStatus {
    const { batch, chainId, clock, id, maxConcurrent, pace } = this.options;
    const parts = expectedCost(this.health, "read", this.#costContext(context));
    const state = this.#state();
    const paceStatus = pace.status(context.nowMs);
    return {
      id,
      chainId,
      name: this.name,
      state,
      reason: this.#reasonOf(state, paceStatus.heldMs),
      costMs: totalCost(parts),
      parts,
      errorRate: this.health.classes.read.errorRate,
      inFlight: this.inFlight,
      maxConcurrent,
      pace: paceStatus,
      lacks: this.#lacking.list(clock.monotonic()),
      batchItems: batch?.maxItems,
      head: this.health.head,
      requests: this.#requests,
      failures: this.#failures,
    };
  }

  #state(): UpstreamStatus["state"] {
    if (this.isLeaving) return "draining";
    if (this.identity === "wrong") return "wrong-chain";
    if (this.ejected) return "ejected";
    if (this.identity === "right") return "active";
    return this.#requests === 0 ? "idle" : "probing";
  }

  #reasonOf(state: UpstreamStatus["state"], heldMs: number): string | undefined {
    if (state === "ejected") return this.#reason;
    return state === "active" && heldMs > 0 ? "rate-limited" : undefined;
  }

  #costContext(context: ChainContext): CostContext {
    return { ...context, inFlight: this.inFlight, maxConcurrent: this.options.maxConcurrent };
  }

  #keepPace(verdict: Verdict, place: Sent, nowMs: number): void {
    const { pace } = this.options;
    if (verdict.kind === "limited") pace.refuse(place, nowMs, verdict.retryAfterMs);
    else if (isAnswer(verdict)) pace.accept(place, nowMs);
  }

  #learn(verdict: Verdict, method: string, kind: MethodClass, latencyMs: number): void {
    const { clock, observer, chainId } = this.options;
    const nowMs = clock.monotonic();
    if (verdict.kind === "retry" && verdict.reason === "timeout") {
      recordOvertaken(this.health, kind, latencyMs, nowMs);
    }
    if (isAnswer(verdict)) {
      this.#lastAnswerMs = nowMs;
      recordAnswer(this.health, kind, latencyMs, nowMs);
      const isLacking = verdict.kind === "retry" && verdict.reason === "unsupported-method";
      if (isLacking) this.#lacking.note(method, nowMs);
      else if (verdict.kind === "deliver") this.#lacking.forget(method);
    }
    if (verdict.kind === "reject" || (verdict.kind === "retry" && verdict.fault)) {
      this.#failures++;
      const othersInUse = this.options.hasPeer(this);
      if (recordFailure(this.health, kind, nowMs, othersInUse)) {
        this.#reason = verdict.reason;
        this.#announce("ejected");
      }
      // What refuses us now will refuse the next call too; only a probe can tell that it changed.
      if (verdict.kind === "reject" && !this.ejected) this.eject(verdict.reason);
      this.options.onFault(this);
    }
    observer.attempt?.({ chainId, upstream: this.name, kind, outcome: nameOf(verdict), latencyMs });
  }

  #announce(state: "ejected"): void {
    const { chainId, observer } = this.options;
    observer.state?.({ chainId, upstream: this.name, state, reason: this.#reason });
  }
}

/** What a chain's upstreams share when their costs are compared. */
export type ChainContext = Pick<CostContext, "nowMs" | "chainHead" | "blockTimeMs">;

function encodeCall(call: RpcCall, id: number): string {
  const method = JSON.stringify(call.method);
  return `{"jsonrpc":"2.0","id":${id},"method":${method},"params":${call.params ?? "[]"}}`;
}

/** Whether the node did answer, if only with an error of the call's own. */
function isAnswer(verdict: Verdict): boolean {
  if (verdict.kind === "deliver") return true;
  return verdict.kind === "retry" && verdict.answer !== undefined && !verdict.fault;
}

/** Whether we ended the request, and not the node. */
function isGivenUp(verdict: Verdict): boolean {
  return verdict.kind === "aborted" || (verdict.kind === "retry" && verdict.reason === "timeout");
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

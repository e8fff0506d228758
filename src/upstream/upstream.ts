import type { Clock } from "../lib/clock.ts";
import { textOf } from "../lib/jsonSpan.ts";
import { Attempt, type AttemptHost, type AttemptOwner } from "./attempt.ts";
import { Batcher, type BatchData } from "./batch.ts";
import { classifyAnswer, classifyFault, type JudgeError, type Verdict } from "./classify.ts";
import type { AnswerLimits, Connection, HttpAnswer, Sending } from "./connection.ts";
import { type CostContext, expectedCost, type Health, p95Ms, totalCost } from "./health.ts";
import type { Pace } from "./limits.ts";
import type { AnswerMemory } from "./memory.ts";
import type { MethodClass } from "./methodClass.ts";
import type { UpstreamObserver } from "./observer.ts";
import { Places } from "./places.ts";
import { isAnswer, UpstreamRecord } from "./record.ts";
import { withoutSecrets } from "./secrets.ts";
import type { Sent } from "./slidingWindow.ts";
import type { RpcCall } from "./types.ts";

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
const MAX_ID = 0x7fff_ffff;

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

/** What a chain's upstreams share when their costs are compared. */
export type ChainContext = Pick<CostContext, "nowMs" | "chainHead" | "blockTimeMs">;

let lastId = 0;

/** One node: its connections, its load, and what it has shown. */
export class Upstream implements AttemptHost {
  identity: Identity = "unknown";
  /** True once it takes no more calls and ends with those under way. */
  isLeaving = false;
  /** A list of just this one. */
  readonly alone: readonly Upstream[] = [this];
  readonly record: UpstreamRecord;
  readonly #places: Places;
  readonly #batcher: Batcher | undefined;
  readonly #limits: AnswerLimits;

  constructor(readonly options: UpstreamOptions) {
    const { batch, chainId, clock, maxConcurrent, name, observer, onFree, pace } = options;
    const countsCalls = batch?.countAs !== "requests";
    this.#places = new Places({ pace, maxConcurrent, countsCalls, clock, onFree });
    this.record = new UpstreamRecord({
      chainId,
      name,
      observer,
      hasPeer: () => options.hasPeer(this),
      onFault: () => options.onFault(this),
    });
    this.#batcher = batch && this.#newBatcher(batch);
    this.#limits = { maxBytes: MAX_ANSWER_BYTES, memory: options.memory };
  }

  get name(): string {
    return this.options.name;
  }

  get health(): Health {
    return this.record.health;
  }

  get inFlight(): number {
    return this.#places.inFlight;
  }

  get ejected(): boolean {
    return this.record.isEjected;
  }

  /** Whether calls may be sent here as far as identity and health go. */
  get usable(): boolean {
    return this.identity === "right" && !this.ejected && !this.isLeaving;
  }

  /** Whether the node said lately that it does not serve a method. */
  lacks(method: string, nowMs: number): boolean {
    return this.record.lacking.lacks(method, nowMs);
  }

  /** As `Places.waitMs`. */
  admissionWaitMs(nowMs: number, isWatch = false): number {
    return this.#places.waitMs(nowMs, isWatch);
  }

  /** Expected cost of the next request of this class, ms. */
  costMs(kind: MethodClass, { nowMs, chainHead, blockTimeMs }: ChainContext): number {
    const { inFlight } = this;
    const { maxConcurrent } = this.options;
    const context = { nowMs, chainHead, blockTimeMs, inFlight, maxConcurrent };
    return totalCost(expectedCost(this.health, kind, context));
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
  reserve(nowMs = this.options.clock.monotonic()): this {
    this.#places.reserve(nowMs);
    return this;
  }

  /** Gives a place back from which nothing was sent. */
  release(): void {
    this.#places.release();
  }

  /**
   * Sends a request of the watch, or one that must go to this very node, once there is a place for
   * it. Never rejects.
   * @param timeoutMs - time allowed for waiting and for the answer
   */
  async ask(call: RpcCall, timeoutMs: number): Promise<Verdict> {
    const { clock } = this.options;
    const untilMs = clock.monotonic() + timeoutMs;
    if (!(await this.#places.awaitWatch(untilMs))) {
      return { kind: "retry", reason: "busy", fault: false };
    }
    const leftMs = Math.max(1, untilMs - clock.monotonic());
    return this.reserve().attemptOnce(call, "read", leftMs, true);
  }

  /** As `attempt`, for who can wait. Never rejects. */
  attemptOnce(
    call: RpcCall,
    kind: MethodClass,
    timeoutMs: number,
    isAlone = kind !== "read",
  ): Promise<Verdict> {
    const { promise, resolve } = Promise.withResolvers<Verdict>();
    const owner = { judged: (_: unknown, verdict: Verdict) => resolve(verdict) };
    this.attempt(call, kind, timeoutMs, owner, this.options.clock.monotonic(), isAlone);
    return promise;
  }

  /**
   * Sends one request in a reserved place and learns from its outcome.
   * @param timeoutMs - time allowed for this attempt
   * @param isAlone - false where it may be sent together with others
   */
  attempt(
    call: RpcCall,
    kind: MethodClass,
    timeoutMs: number,
    owner: AttemptOwner,
    nowMs: number,
    isAlone = kind !== "read",
  ): Attempt<Upstream> {
    const id = (lastId = lastId >= MAX_ID ? 1 : lastId + 1);
    this.record.requests++;
    const attempt = new Attempt(this, call, kind, id, nowMs, this.#places.use(nowMs), owner);
    attempt.follow(this.#post(attempt, isAlone), timeoutMs);
    return attempt;
  }

  #post(attempt: Attempt, isAlone: boolean): Sending {
    const limits = this.#limits;
    if (!this.#batcher) return this.options.connection.post(attempt, limits, attempt);
    return isAlone
      ? this.#batcher.send(attempt, limits, attempt)
      : this.#batcher.post(attempt, limits, attempt);
  }

  judge(answer: HttpAnswer, id: number): Verdict {
    const { clock, judgeError, secrets } = this.options;
    return withoutSecrets(classifyAnswer(answer, id, clock, judgeError), secrets);
  }

  /** A node that answered others meanwhile is not dead; this call takes long. */
  judgeTimeout(startMs: number): Verdict {
    const isAlive = this.record.lastAnswerMs > startMs;
    return isAlive ? { kind: "retry", reason: "timeout", fault: false } : classifyFault("timeout");
  }

  conclude({ call, kind, place, startMs }: Attempt, verdict: Verdict): number {
    const endMs = this.options.clock.monotonic();
    this.#keepPace(verdict, place, endMs);
    this.record.note(verdict, call.method, kind, endMs - startMs, endMs);
    if (isGivenUp(verdict)) setTimeout(() => this.#places.leave(), this.#goodbyeMs(kind)).unref();
    else this.#places.leave();
    return endMs;
  }

  #newBatcher(batch: BatchData): Batcher {
    const { clock, connection } = this.options;
    return new Batcher({
      connection,
      batch,
      now: () => clock.monotonic(),
      patienceMs: () => Math.max(MIN_BATCH_PATIENCE_MS, 2 * p95Ms(this.health, "read")),
      answeredSince: (ms) => this.record.lastAnswerMs > ms,
      admit: (signal) => this.#places.admitBatch(signal),
    });
  }

  /** How long the node may still work on a request that we gave up, ms. */
  #goodbyeMs(kind: MethodClass): number {
    return Math.min(MAX_GOODBYE_MS, this.health.classes[kind].latencyMs);
  }

  #keepPace(verdict: Verdict, place: Sent, nowMs: number): void {
    const { pace } = this.options;
    pace.settle(place, nowMs);
    if (verdict.kind === "limited") pace.refuse(place, nowMs, verdict.retryAfterMs);
    else if (isAnswer(verdict)) pace.accept(place, nowMs);
  }

  /** Notes that a request here was given up because another upstream had answered. */
  overtaken(kind: MethodClass, elapsedMs: number): void {
    this.record.noteOvertaken(kind, elapsedMs, this.options.clock.monotonic());
  }

  /** Takes the upstream out of use until a probe succeeds. */
  eject(reason = "silent"): void {
    this.record.eject(reason, this.options.clock.monotonic());
  }
}

/** Whether we ended the request, and not the node. */
function isGivenUp(verdict: Verdict): boolean {
  return verdict.kind === "aborted" || (verdict.kind === "retry" && verdict.reason === "timeout");
}

/** The parsed `result` of a delivered answer; undefined for any other verdict. */
export function resultOf(verdict: Verdict): unknown {
  if (verdict.kind !== "deliver" || verdict.answer.error || !verdict.answer.result)
    return undefined;
  return JSON.parse(textOf(verdict.answer.bytes, verdict.answer.result));
}

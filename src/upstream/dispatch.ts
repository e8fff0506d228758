import { Cancel } from "../lib/cancel.ts";
import { Timer, timers } from "../lib/timerWheel.ts";
import { whenDone } from "../lib/whenDone.ts";
import type { Attempt, AttemptOwner } from "./attempt.ts";
import type { Verdict } from "./classify.ts";
import type { ChainPool, Wish } from "./chainPool.ts";
import { p95Ms } from "./health.ts";
import { classOf, type MethodClass } from "./methodClass.ts";
import type { NodeAnswer } from "./nodeAnswer.ts";
import {
  type CallOptions,
  type RpcCall,
  type RpcReply,
  UpstreamUnavailableError,
} from "./types.ts";
import type { Upstream } from "./upstream.ts";

/** Time allowed for a call over all attempts, when the caller names none. */
export const DEFAULT_DEADLINE_MS = 15_000;
/** Requests a call may cause: the first, and two more. */
const MAX_ATTEMPTS = 3;
/** Earliest a second upstream is asked because the first is slow. */
const MIN_HEDGE_MS = 50;
/** Pause before an upstream that failed is asked again because there is no other. */
const REPEAT_PAUSE_MS = 25;
/** Time after the deadline at which a call is ended that did not end by itself, ms. */
const DEADLINE_GRACE_MS = 10;
/** Refusals for pace after which a call is given up; whole storms of them are kept off by the pace. */
const MAX_REFUSALS = 5;
/** Answers of one call that may be disbelieved because their upstreams were behind. */
const MAX_DISBELIEFS = 4;

/**
 * What a read makes of an upstream's answer:
 * - final: it is the caller's at once, even an error that another upstream might not give;
 * - believe: it is the caller's, as far as its kind goes;
 * - doubt: delivered only when no other upstream does better;
 * - disbelieve: the upstream is behind what it was asked about; never delivered.
 */
export type Belief = "final" | "believe" | "doubt" | "disbelieve";

/** Which upstream was asked, and when. */
export type Attempted = Pick<Attempt<Upstream>, "host" | "startMs">;

/** What a read asks of upstreams and their answers, beyond the usual. */
export interface ReadRules extends Wish {
  /** Looks at an answer, whether a result or an error, before it counts. */
  readonly review?: (attempt: Attempted, answer: NodeAnswer) => Belief | Promise<Belief>;
}

/** A reply and where in its bytes the parts stand. */
export interface NodeReply extends RpcReply {
  readonly answer: NodeAnswer;
}

/** Told how a read ended: once, unless it was aborted, and never before `start` has returned. */
export interface ReadTarget {
  replied(reply: NodeReply): void;
  /** @param error - UpstreamUnavailableError */
  failed(error: unknown): void;
}

/**
 * `ReadRun` for who can wait.
 * @throws UpstreamUnavailableError, or the signal's reason when the caller aborted
 */
export function dispatchRead(
  pool: ChainPool,
  call: RpcCall,
  options: CallOptions,
  rules: ReadRules = {},
): Promise<NodeReply> {
  const known = rules.method === undefined ? { ...rules, method: call.method } : rules;
  return whenDone(options.signal, (replied, failed) => {
    const run = new ReadRun(pool, call, options.deadlineMs, known, { replied, failed });
    run.start();
    return run;
  });
}

const nobody: readonly Upstream[] = [];

/**
 * Sends a read through a chain's upstreams: on failure to another one, and when slow to a second
 * one at the same time. The first answer that is believed wins, and the others are cancelled. As a
 * timer it waits until the first upstream is slow.
 */
export class ReadRun extends Timer implements AttemptOwner {
  readonly #kind: MethodClass;
  readonly #startMs: number;
  readonly #untilMs: number;
  /** Attempts under way: one, or two when hedged. */
  #first: Attempt<Upstream> | undefined;
  #second: Attempt<Upstream> | undefined;
  #tried: readonly Upstream[] = nobody;
  #attempts = 0;
  #disbeliefs = 0;
  /** Attempts that were refused for pace. */
  #refusals = 0;
  #hedged = false;
  /** A node's error to deliver if nobody does better. */
  #fallback: { answer: NodeAnswer; upstream: Upstream } | undefined;
  #settled = false;
  #deadlineTimer: Timer | undefined;
  /** Aborts with the run; made for what waits, which few do. */
  #leaving: Cancel | undefined;

  constructor(
    private readonly pool: ChainPool,
    private readonly call: RpcCall,
    deadlineMs: number | undefined,
    private readonly rules: ReadRules,
    private readonly target: ReadTarget,
  ) {
    super();
    this.#kind = classOf(call.method);
    this.#startMs = pool.options.clock.monotonic();
    this.#untilMs = this.#startMs + (deadlineMs ?? DEFAULT_DEADLINE_MS);
  }

  start(): void {
    this.pool.begin(this.#startMs);
    if (this.#untilMs > this.#startMs) this.#next(this.#startMs);
    else queueMicrotask(() => this.#giveUp());
  }

  /** Ends it; its target is not told. */
  abort(): void {
    if (!this.#settled) this.#settle("aborted", this.pool.options.clock.monotonic());
  }

  /** Sends the next attempt, or ends the call when there is none to make. */
  #next(nowMs: number): void {
    const upstream = this.pool.pick(this.#kind, this.#tried, this.rules, nowMs);
    if (upstream) this.#launch(upstream, nowMs);
    else void this.#await();
  }

  /** Waits for an upstream to send the next attempt to. */
  async #await(): Promise<void> {
    this.#watchDeadline();
    const upstream = (await this.#acquire()) ?? (await this.#repeat());
    if (this.#settled) upstream?.release();
    else if (upstream) this.#launch(upstream, this.pool.options.clock.monotonic());
    else if (!this.#first && !this.#second) this.#giveUp();
  }

  /** Attempts end by themselves in time; this ends what waits for something else. */
  #watchDeadline(): void {
    const leftMs = this.#untilMs - this.pool.options.clock.monotonic() + DEADLINE_GRACE_MS;
    this.#deadlineTimer ??= timers.set(leftMs, () => this.#giveUp());
  }

  #pick(): Upstream | undefined {
    return this.pool.pick(this.#kind, this.#tried, this.rules);
  }

  #acquire(): Promise<Upstream | undefined> {
    this.#leaving ??= new Cancel();
    return this.pool.acquire(this.#kind, this.#tried, this.#untilMs, this.#leaving, this.rules);
  }

  /** After a pause, an upstream that was tried before, when there is no other. */
  async #repeat(): Promise<Upstream | undefined> {
    if (this.#tried.length === 0 || this.#settled) return undefined;
    this.#tried = nobody;
    await Bun.sleep(this.#repeatPauseMs());
    if (this.#settled) return undefined;
    return this.#pick() ?? (this.#disbeliefs > 0 ? this.#acquire() : undefined);
  }

  /** One that was behind needs a part of a block's time; one that failed, a moment. */
  #repeatPauseMs(): number {
    const failedMs = REPEAT_PAUSE_MS * this.#attempts;
    const behindMs = this.#disbeliefs > 0 ? this.pool.catchUpMs / (MAX_DISBELIEFS + 1) : 0;
    return Math.max(failedMs, behindMs);
  }

  #launch(upstream: Upstream, nowMs: number): void {
    const leftMs = this.#untilMs - nowMs;
    if (leftMs <= 0) {
      upstream.release();
      return this.#giveUp();
    }
    if (this.#tried.length === 0) this.#tried = upstream.alone;
    else if (!this.#tried.includes(upstream)) this.#tried = [...this.#tried, upstream];
    const isAlone = this.pool.upstreams.length === 1;
    const usualMs = upstream.attemptTimeoutMs(this.#kind, this.#attempts, isAlone);
    const timeoutMs = Math.min(usualMs, leftMs);
    this.#attempts++;
    if (this.#attempts === 1) this.#scheduleHedge(upstream, timeoutMs);
    const attempt = upstream.attempt(this.call, this.#kind, timeoutMs, this, nowMs);
    if (this.#first) this.#second = attempt;
    else this.#first = attempt;
  }

  #scheduleHedge(first: Upstream, timeoutMs: number): void {
    if (this.#kind !== "read" || this.pool.upstreams.length < 2) return;
    const afterMs = Math.max(MIN_HEDGE_MS, p95Ms(first.health, this.#kind));
    if (afterMs >= timeoutMs) return;
    timers.start(this, afterMs);
  }

  /** The first upstream is slow: another is asked too. */
  override due(): void {
    if (this.#settled || !this.#first || this.#second) return;
    const second = this.#pick();
    if (!second) return;
    if (!this.pool.budget.withdraw()) return second.release();
    this.#hedged = true;
    this.#launch(second, this.pool.options.clock.monotonic());
  }

  /** Asks the rules about an answer; without rules it is believed. */
  judged(attempt: Attempt<Upstream>, verdict: Verdict): void {
    if (this.#settled) return;
    const answer = answerOf(verdict);
    if (!answer || !this.rules.review) return this.#conclude(attempt, verdict, undefined);
    const belief = this.rules.review(attempt, answer);
    if (typeof belief === "string") return this.#conclude(attempt, verdict, belief);
    this.#watchDeadline();
    void belief.then((late) => this.#conclude(attempt, verdict, late));
  }

  #conclude(attempt: Attempt<Upstream>, verdict: Verdict, belief: Belief | undefined): void {
    if (this.#settled) return;
    const { host: upstream } = attempt;
    if (this.#first === attempt) this.#first = this.#second;
    this.#second = undefined;
    const answer = answerOf(verdict);
    const isBelieved = verdict.kind === "deliver" && (belief ?? "believe") === "believe";
    if (answer && (belief === "final" || isBelieved)) {
      return this.#deliver(upstream, answer, attempt.endMs);
    }
    if (verdict.kind === "limited") {
      // Its pace tells when it may be asked again, and until then keeps everyone from asking.
      this.#refusals++;
      this.#tried = this.#tried.filter((tried) => tried !== upstream);
    }
    if (belief === "disbelieve") this.#disbeliefs++;
    else if (answer) this.#fallback = { answer, upstream };
    if (this.#first) return;
    const nowMs = this.pool.options.clock.monotonic();
    if (this.#mayTryAgain(verdict, belief, nowMs)) this.#next(nowMs);
    else this.#giveUp();
  }

  #mayTryAgain(verdict: Verdict, belief: Belief | undefined, nowMs: number): boolean {
    if (nowMs >= this.#untilMs) return false;
    // An answer from behind says that others know better; it is no sign of trouble to be spared.
    if (belief === "disbelieve") return this.#disbeliefs <= MAX_DISBELIEFS;
    if (verdict.kind === "limited") return this.#refusals <= MAX_REFUSALS;
    const allowed = MAX_ATTEMPTS + this.#disbeliefs + this.#refusals;
    return this.#attempts < allowed && this.pool.budget.withdraw();
  }

  #deliver(upstream: Upstream, answer: NodeAnswer, nowMs: number): void {
    const slower = this.#first;
    slower?.host.overtaken(this.#kind, nowMs - slower.startMs);
    this.#settle("answer", nowMs);
    this.target.replied({
      bytes: answer.bytes,
      id: answer.id,
      isError: answer.error !== undefined,
      upstream: upstream.name,
      attempts: this.#attempts,
      source: "upstream",
      hedged: this.#hedged,
      retried: this.#attempts > (this.#hedged ? 2 : 1),
      answer,
    });
  }

  #giveUp(): void {
    if (this.#settled) return;
    const nowMs = this.pool.options.clock.monotonic();
    const fallback = this.#fallback;
    if (fallback) return this.#deliver(fallback.upstream, fallback.answer, nowMs);
    const error = new UpstreamUnavailableError("no upstream answered", this.pool.busyMs);
    this.#settle("unavailable", nowMs);
    this.target.failed(error);
  }

  #settle(outcome: "answer" | "aborted" | "unavailable", nowMs: number): void {
    this.#settled = true;
    this.clear();
    this.#deadlineTimer?.clear();
    this.#first?.abort();
    this.#second?.abort();
    this.#leaving?.abort();
    const { chain, observer } = this.pool.options;
    observer.call?.({
      chainId: chain.id,
      kind: this.#kind,
      outcome,
      attempts: this.#attempts,
      hedged: this.#hedged,
      durationMs: nowMs - this.#startMs,
    });
  }
}

/** The answer of a node that an attempt got, whatever it is worth. */
export function answerOf(verdict: Verdict): NodeAnswer | undefined {
  return verdict.kind === "deliver" || verdict.kind === "retry" ? verdict.answer : undefined;
}

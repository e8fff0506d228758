import { Cancel } from "../lib/cancel.ts";
import { timers, type WheelTimer } from "../lib/timerWheel.ts";
import type { NodeAnswer, Verdict } from "./classify.ts";
import type { ChainPool, Wish } from "./chainPool.ts";
import { p95Ms } from "./health.ts";
import { classOf, type MethodClass } from "./methodClass.ts";
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

/** An upstream's answer to a read. */
export interface Attempted {
  readonly upstream: Upstream;
  readonly answer: NodeAnswer;
  /** When it was asked, monotonic ms. */
  readonly askedAtMs: number;
}

/** What a read asks of upstreams and their answers, beyond the usual. */
export interface ReadRules extends Wish {
  /** Looks at an answer, whether a result or an error, before it counts. */
  readonly review?: (attempt: Attempted) => Belief | Promise<Belief>;
}

/** A reply and where in its bytes the parts stand. */
export interface NodeReply extends RpcReply {
  readonly answer: NodeAnswer;
}

/**
 * Sends a read through a chain's upstreams: on failure to another one, and when slow to a second
 * one at the same time. The first answer that is believed wins, and the others are cancelled.
 * @throws UpstreamUnavailableError, or the signal's reason when the caller aborted
 */
export function dispatchRead(
  pool: ChainPool,
  call: RpcCall,
  options: CallOptions,
  rules: ReadRules = {},
): Promise<NodeReply> {
  if (options.signal?.aborted) return Promise.reject(options.signal.reason);
  const nowMs = pool.options.clock.monotonic();
  pool.begin(nowMs);
  return new ReadRun(pool, call, options, rules, nowMs).start();
}

/** One call under way. */
class ReadRun {
  readonly #kind: MethodClass;
  readonly #untilMs: number;
  readonly #active = new Map<Upstream, { cancel: Cancel; startMs: number }>();
  readonly #tried = new Set<Upstream>();
  readonly rules: ReadRules;
  #attempts = 0;
  #disbeliefs = 0;
  /** Attempts that were refused for pace. */
  #refusals = 0;
  #hedged = false;
  /** A node's error to deliver if nobody does better. */
  #fallback: { answer: NodeAnswer; upstream: Upstream } | undefined;
  #settled = false;
  #hedgeTimer: WheelTimer | undefined;
  #deadlineTimer: WheelTimer | undefined;
  readonly #outcome = Promise.withResolvers<NodeReply>();
  readonly #onAbort = () => this.#fail(this.options.signal?.reason, "aborted");

  constructor(
    private readonly pool: ChainPool,
    private readonly call: RpcCall,
    private readonly options: CallOptions,
    rules: ReadRules,
    private readonly startMs: number,
  ) {
    this.rules = rules.method === undefined ? { ...rules, method: call.method } : rules;
    this.#kind = classOf(call.method);
    this.#untilMs = startMs + (options.deadlineMs ?? DEFAULT_DEADLINE_MS);
  }

  start(): Promise<NodeReply> {
    this.options.signal?.addEventListener("abort", this.#onAbort, { once: true });
    // Attempts end by themselves before; this ends what waits for something else.
    const leftMs = this.#untilMs - this.startMs + DEADLINE_GRACE_MS;
    this.#deadlineTimer = timers.set(leftMs, () => this.#giveUp());
    this.#next();
    return this.#outcome.promise;
  }

  /** Sends the next attempt, or ends the call when there is none to make. */
  #next(): void {
    const { clock } = this.pool.options;
    const nowMs = this.#attempts === 0 ? this.startMs : clock.monotonic();
    const upstream = this.pool.pick(this.#kind, this.#tried, this.rules, nowMs);
    if (upstream) this.#launch(upstream, nowMs);
    else void this.#await();
  }

  /** Waits for an upstream to send the next attempt to. */
  async #await(): Promise<void> {
    const upstream = (await this.#acquire()) ?? (await this.#repeat());
    if (this.#settled) upstream?.release();
    else if (upstream) this.#launch(upstream);
    else if (this.#active.size === 0) this.#giveUp();
  }

  #pick(): Upstream | undefined {
    return this.pool.pick(this.#kind, this.#tried, this.rules);
  }

  #acquire(): Promise<Upstream | undefined> {
    const { signal } = this.options;
    return this.pool.acquire(this.#kind, this.#tried, this.#untilMs, signal, this.rules);
  }

  /** After a pause, an upstream that was tried before, when there is no other. */
  async #repeat(): Promise<Upstream | undefined> {
    if (this.#tried.size === 0 || this.#settled) return undefined;
    this.#tried.clear();
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

  #launch(upstream: Upstream, startMs = this.pool.options.clock.monotonic()): void {
    const leftMs = this.#untilMs - startMs;
    if (leftMs <= 0) {
      upstream.release();
      return this.#giveUp();
    }
    const cancel = new Cancel();
    this.#tried.add(upstream);
    this.#active.set(upstream, { cancel, startMs });
    const isAlone = this.pool.upstreams.length === 1;
    const usualMs = upstream.attemptTimeoutMs(this.#kind, this.#attempts, isAlone);
    const timeoutMs = Math.min(usualMs, leftMs);
    this.#attempts++;
    if (this.#attempts === 1) this.#scheduleHedge(upstream, timeoutMs);
    void upstream
      .attempt(this.call, this.#kind, timeoutMs, cancel)
      .then((verdict) => this.#review(upstream, verdict));
  }

  #scheduleHedge(first: Upstream, timeoutMs: number): void {
    if (this.#kind !== "read" || this.pool.upstreams.length < 2) return;
    const afterMs = Math.max(MIN_HEDGE_MS, p95Ms(first.health, this.#kind));
    if (afterMs >= timeoutMs) return;
    this.#hedgeTimer = timers.set(afterMs, () => this.#hedge());
  }

  #hedge(): void {
    if (this.#settled || this.#active.size !== 1) return;
    const second = this.#pick();
    if (!second) return;
    if (!this.pool.budget.withdraw()) return second.release();
    this.#hedged = true;
    this.#launch(second);
  }

  /** Asks the rules about an answer; without rules it is believed. */
  #review(upstream: Upstream, verdict: Verdict): void {
    const answer = answerOf(verdict);
    const { review } = this.rules;
    if (this.#settled || !answer || !review) return this.#conclude(upstream, verdict, undefined);
    const askedAtMs = this.#active.get(upstream)?.startMs ?? this.startMs;
    const belief = review({ upstream, answer, askedAtMs });
    if (typeof belief === "string") this.#conclude(upstream, verdict, belief);
    else void belief.then((late) => this.#conclude(upstream, verdict, late));
  }

  #conclude(upstream: Upstream, verdict: Verdict, belief: Belief | undefined): void {
    if (this.#settled) return;
    this.#active.delete(upstream);
    const answer = answerOf(verdict);
    const isBelieved = verdict.kind === "deliver" && (belief ?? "believe") === "believe";
    if (answer && (belief === "final" || isBelieved)) return this.#deliver(upstream, answer);
    if (verdict.kind === "limited") {
      // Its pace tells when it may be asked again, and until then keeps everyone from asking.
      this.#refusals++;
      this.#tried.delete(upstream);
    }
    if (belief === "disbelieve") this.#disbeliefs++;
    else if (answer) this.#fallback = { answer, upstream };
    if (this.#active.size > 0) return;
    if (this.#mayTryAgain(verdict, belief)) this.#next();
    else this.#giveUp();
  }

  #mayTryAgain(verdict: Verdict, belief: Belief | undefined): boolean {
    if (this.pool.options.clock.monotonic() >= this.#untilMs) return false;
    // An answer from behind says that others know better; it is no sign of trouble to be spared.
    if (belief === "disbelieve") return this.#disbeliefs <= MAX_DISBELIEFS;
    if (verdict.kind === "limited") return this.#refusals <= MAX_REFUSALS;
    const allowed = MAX_ATTEMPTS + this.#disbeliefs + this.#refusals;
    return this.#attempts < allowed && this.pool.budget.withdraw();
  }

  #deliver(upstream: Upstream, answer: NodeAnswer): void {
    const nowMs = this.pool.options.clock.monotonic();
    for (const [loser, { startMs }] of this.#active) loser.overtaken(this.#kind, nowMs - startMs);
    this.#settle("answer");
    this.#outcome.resolve({
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
    if (this.#fallback) return this.#deliver(this.#fallback.upstream, this.#fallback.answer);
    const error = new UpstreamUnavailableError("no upstream answered", this.pool.busyMs);
    this.#fail(error, "unavailable");
  }

  #fail(error: unknown, outcome: "aborted" | "unavailable"): void {
    if (this.#settled) return;
    this.#settle(outcome);
    this.#outcome.reject(error);
  }

  #settle(outcome: "answer" | "aborted" | "unavailable"): void {
    this.#settled = true;
    this.#hedgeTimer?.clear();
    this.#deadlineTimer?.clear();
    this.options.signal?.removeEventListener("abort", this.#onAbort);
    for (const { cancel } of this.#active.values()) cancel.abort();
    const { chain, clock, observer } = this.pool.options;
    observer.call?.({
      chainId: chain.id,
      kind: this.#kind,
      outcome,
      attempts: this.#attempts,
      hedged: this.#hedged,
      durationMs: clock.monotonic() - this.startMs,
    });
  }
}

/** The answer of a node that an attempt got, whatever it is worth. */
export function answerOf(verdict: Verdict): NodeAnswer | undefined {
  return verdict.kind === "deliver" || verdict.kind === "retry" ? verdict.answer : undefined;
}

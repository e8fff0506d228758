import type { NodeAnswer, Verdict } from "./classify.ts";
import type { ChainPool } from "./chainPool.ts";
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

/**
 * Sends a read through a chain's upstreams: on failure to another one, and when slow to a second
 * one at the same time. The first usable answer wins, and the others are cancelled.
 * @throws UpstreamUnavailableError, or the signal's reason when the caller aborted
 */
export async function dispatchRead(
  pool: ChainPool,
  call: RpcCall,
  options: CallOptions,
): Promise<RpcReply> {
  options.signal?.throwIfAborted();
  pool.begin();
  const run = new ReadRun(pool, call, options);
  return run.start();
}

/** One call under way. */
class ReadRun {
  readonly #kind: MethodClass;
  readonly #startMs: number;
  readonly #untilMs: number;
  readonly #active = new Map<Upstream, { cancel: AbortController; startMs: number }>();
  readonly #tried = new Set<Upstream>();
  #attempts = 0;
  #hedged = false;
  /** A node's error to deliver if nobody does better. */
  #fallback: { answer: NodeAnswer; upstream: Upstream } | undefined;
  #settled = false;
  #hedgeTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #outcome = Promise.withResolvers<RpcReply>();
  readonly #onAbort = () => this.#fail(this.options.signal?.reason, "aborted");

  constructor(
    private readonly pool: ChainPool,
    private readonly call: RpcCall,
    private readonly options: CallOptions,
  ) {
    this.#kind = classOf(call.method);
    this.#startMs = pool.options.clock.monotonic();
    this.#untilMs = this.#startMs + (options.deadlineMs ?? DEFAULT_DEADLINE_MS);
  }

  start(): Promise<RpcReply> {
    this.options.signal?.addEventListener("abort", this.#onAbort, { once: true });
    void this.#next();
    return this.#outcome.promise;
  }

  /** Sends the next attempt, or ends the call when there is none to make. */
  async #next(): Promise<void> {
    const upstream =
      this.pool.pick(this.#kind, this.#tried) ??
      (await this.pool.acquire(this.#kind, this.#tried, this.#untilMs, this.options.signal)) ??
      (await this.#repeat());
    if (this.#settled) upstream?.release();
    else if (upstream) this.#launch(upstream);
    else if (this.#active.size === 0) this.#giveUp();
  }

  /** After a pause, an upstream that was tried before, when there is no other. */
  async #repeat(): Promise<Upstream | undefined> {
    if (this.#tried.size === 0 || this.#settled) return undefined;
    this.#tried.clear();
    await Bun.sleep(REPEAT_PAUSE_MS * this.#attempts);
    return this.#settled ? undefined : this.pool.pick(this.#kind, this.#tried);
  }

  #launch(upstream: Upstream): void {
    const { clock } = this.pool.options;
    const startMs = clock.monotonic();
    const leftMs = this.#untilMs - startMs;
    if (leftMs <= 0) {
      upstream.release();
      return this.#giveUp();
    }
    const cancel = new AbortController();
    this.#tried.add(upstream);
    this.#active.set(upstream, { cancel, startMs });
    const isAlone = this.pool.upstreams.length === 1;
    const usualMs = upstream.attemptTimeoutMs(this.#kind, this.#attempts, isAlone);
    const timeoutMs = Math.min(usualMs, leftMs);
    this.#attempts++;
    if (this.#attempts === 1) this.#scheduleHedge(upstream, timeoutMs);
    void upstream
      .attempt(this.call, this.#kind, timeoutMs, cancel)
      .then((verdict) => this.#conclude(upstream, verdict));
  }

  #scheduleHedge(first: Upstream, timeoutMs: number): void {
    if (this.#kind !== "read" || this.pool.upstreams.length < 2) return;
    const afterMs = Math.max(MIN_HEDGE_MS, p95Ms(first.health, this.#kind));
    if (afterMs >= timeoutMs) return;
    this.#hedgeTimer = setTimeout(() => {
      if (this.#settled || this.#active.size !== 1) return;
      const second = this.pool.pick(this.#kind, this.#tried);
      if (!second) return;
      if (!this.pool.budget.withdraw()) return second.release();
      this.#hedged = true;
      this.#launch(second);
    }, afterMs);
  }

  #conclude(upstream: Upstream, verdict: Verdict): void {
    if (this.#settled) return;
    this.#active.delete(upstream);
    if (verdict.kind === "deliver") return this.#deliver(upstream, verdict.answer);
    if (verdict.kind === "retry" && verdict.answer) {
      this.#fallback = { answer: verdict.answer, upstream };
    }
    if (this.#active.size > 0) return;
    const timeIsUp = this.pool.options.clock.monotonic() >= this.#untilMs;
    if (timeIsUp || this.#attempts >= MAX_ATTEMPTS || !this.pool.budget.withdraw()) {
      return this.#giveUp();
    }
    void this.#next();
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
    });
  }

  #giveUp(): void {
    if (this.#fallback) return this.#deliver(this.#fallback.upstream, this.#fallback.answer);
    this.#fail(new UpstreamUnavailableError("no upstream answered"), "unavailable");
  }

  #fail(error: unknown, outcome: "aborted" | "unavailable"): void {
    if (this.#settled) return;
    this.#settle(outcome);
    this.#outcome.reject(error);
  }

  #settle(outcome: "answer" | "aborted" | "unavailable"): void {
    this.#settled = true;
    clearTimeout(this.#hedgeTimer);
    this.options.signal?.removeEventListener("abort", this.#onAbort);
    for (const { cancel } of this.#active.values()) cancel.abort();
    const { chain, clock, observer } = this.pool.options;
    observer.call?.({
      chainId: chain.id,
      kind: this.#kind,
      outcome,
      attempts: this.#attempts,
      hedged: this.#hedged,
      durationMs: clock.monotonic() - this.#startMs,
    });
  }
}

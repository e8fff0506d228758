import type { CancelSignal } from "../lib/cancel.ts";
import type { Chain } from "../chains/index.ts";
import type { Clock, Random } from "../lib/clock.ts";
import { RetryBudget } from "./budget.ts";
import { choose, drawFree, nearBest } from "./choose.ts";
import type { NodeLink } from "./links.ts";
import type { AnswerMemory } from "./memory.ts";
import type { MethodClass } from "./methodClass.ts";
import { Monitor } from "./monitor.ts";
import type { UpstreamObserver } from "./observer.ts";
import { protocolOf } from "./protocol.ts";
import type { UpstreamStatus } from "./types.ts";
import { Upstream } from "./upstream.ts";
import { statusOf } from "./upstreamStatus.ts";
import { type WaitingPlace, Waiters } from "./waiters.ts";

/** Requests in flight per upstream when its registry entry names no limit. */
const DEFAULT_MAX_CONCURRENT = 256;
/** Callers that may wait for an upstream of one chain; more are refused at once. */
const MAX_WAITERS = 10_000;
/** Longest time the calls of a removed upstream may take before it is closed all the same. */
const MAX_LEAVING_MS = 60_000;
const LEAVING_NAP_MS = 10;
/** When to come back where all upstreams are at their limit in flight. */
const MIN_BUSY_MS = 1_000;
/** Waiters look again at least this often, in case a wake-up went to one who could not use it. */
const MAX_NAP_MS = 250;
/** Callers wait this many blocks for an upstream to reach the block they have seen, within bounds. */
const CATCH_UP_BLOCKS = 2;
const MIN_CATCH_UP_MS = 1_000;
const MAX_CATCH_UP_MS = 10_000;

/** With more upstreams than this, the best of them are found once per moment and not per call. */
const MAX_SCANNED = 8;
const BAND_AGE_MS = 5;

/** An upstream with what the next request to it is expected to cost. */
interface Priced {
  readonly upstream: Upstream;
  readonly costMs: number;
  readonly inFlight: number;
}

/** What a call asks of the upstream that is to answer it, beyond being in use. */
export interface Wish {
  /** Lowest head it must be known to have; asked again each time, as heads move. */
  readonly minHead?: () => number | undefined;
  /** False for one that cannot answer this call. */
  readonly suits?: (upstream: Upstream) => boolean;
  /** The call's method, to pass over upstreams that do not serve it while one may. */
  readonly method?: string;
}

export interface ChainPoolOptions {
  readonly chain: Pick<Chain, "id" | "kind" | "blockTimeMs">;
  readonly nodes: readonly NodeLink[];
  readonly memory: AnswerMemory;
  readonly clock: Clock;
  readonly random: Random;
  readonly observer: UpstreamObserver;
  /** False for a pool that lives too briefly to be watched. */
  readonly poll: boolean;
  /** Called when the chain itself went back to `head`. */
  readonly onRollback?: (head: number) => void;
}

/** The upstreams of one chain, and the choice among them. */
export class ChainPool {
  /** Shared with the monitor, which so follows every change. */
  readonly #upstreams: Upstream[];
  /** Upstreams that take no more calls and still have some under way, or are only drained. */
  readonly #leaving = new Set<Upstream>();
  readonly budget: RetryBudget;
  readonly #monitor: Monitor;
  readonly #waiters = new Waiters(MAX_WAITERS);
  readonly #bands = new Map<MethodClass, { upstreams: readonly Upstream[]; untilMs: number }>();

  constructor(readonly options: ChainPoolOptions) {
    const { chain, clock, observer } = options;
    this.budget = new RetryBudget(() => clock.monotonic());
    this.#upstreams = options.nodes.map((node) => this.#newUpstream(node));
    this.#monitor = new Monitor({
      chain,
      upstreams: this.upstreams,
      clock,
      observer,
      poll: options.poll,
      onChange: () => this.#waiters.wakeAll(),
      onRollback: (head) => options.onRollback?.(head),
    });
  }

  /** The upstreams that calls may be sent to, whatever their state. */
  get upstreams(): readonly Upstream[] {
    return this.#upstreams;
  }

  get head(): number | undefined {
    return this.#monitor.head;
  }

  /** Highest block from which some upstream in use is sure to answer. */
  get bestHead(): number | undefined {
    let best: number | undefined;
    for (const upstream of this.upstreams) {
      const head = upstream.usable ? this.trustedHead(upstream) : undefined;
      if (head !== undefined) best = Math.max(best ?? 0, head);
    }
    return best;
  }

  /** As `Monitor.trustedHead`. */
  trustedHead(upstream: Upstream): number | undefined {
    return this.#monitor.trustedHead(upstream);
  }

  /** As `Monitor.learnHead`. */
  learnHead(upstream: Upstream, block: number): boolean {
    return this.#monitor.learnHead(upstream, block);
  }

  /** As `Monitor.isHead`. */
  isHead(upstream: Upstream, block: number, askedAtMs: number): boolean {
    return this.#monitor.isHead(upstream, block, askedAtMs);
  }

  /** Time callers wait for an upstream to reach a block, ms. */
  get catchUpMs(): number {
    const usualMs = CATCH_UP_BLOCKS * this.options.chain.blockTimeMs;
    return Math.min(MAX_CATCH_UP_MS, Math.max(MIN_CATCH_UP_MS, usualMs));
  }

  /** Waits until some upstream was found to serve the chain, or none could be. */
  async ready(maxMs: number, signal: CancelSignal | undefined): Promise<void> {
    if (this.head !== undefined) return;
    this.touch();
    const untilMs = this.options.clock.monotonic() + maxMs;
    (await this.acquire("read", [], untilMs, signal))?.release();
  }

  /** Has the upstreams' heads looked at, and waits for the looks, but no longer than `maxMs`. */
  async refreshHeads(maxMs: number): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, maxMs);
    await Promise.race([this.#monitor.poke(), late]);
    clearTimeout(timer);
  }

  /** Notes that the chain is in use: keeps the watch going. */
  touch(): void {
    this.#monitor.touch();
  }

  /** Notes a call from a caller: pays into the budget, keeps the watch going. */
  begin(nowMs: number): void {
    this.budget.deposit(nowMs);
    this.#monitor.touch(nowMs);
  }

  /**
   * The best upstream that takes a request now, other than those already tried, with a place
   * reserved: the caller must send or `release`.
   */
  pick(
    kind: MethodClass,
    tried: readonly Upstream[],
    wish: Wish = {},
    nowMs = this.options.clock.monotonic(),
  ): Upstream | undefined {
    const upstreams = this.#upstreams;
    const minHead = wish.minHead?.();
    const [only] = upstreams;
    if (upstreams.length === 1) {
      return only && this.#takes(only, tried, wish, minHead, nowMs)
        ? only.reserve(nowMs)
        : undefined;
    }
    const band = upstreams.length > MAX_SCANNED ? this.#band(kind, nowMs) : upstreams;
    const free = (one: Upstream) => this.#takes(one, tried, wish, minHead, nowMs);
    if (band !== upstreams) {
      const drawn = drawFree(band, free, this.options.random);
      if (drawn) return drawn.reserve(nowMs);
    }
    return choose(
      this.#candidates(kind, upstreams.filter(free), nowMs),
      this.options.random,
    )?.upstream.reserve(nowMs);
  }

  #candidates(kind: MethodClass, upstreams: readonly Upstream[], nowMs: number): Priced[] {
    const context = this.#context(nowMs);
    return upstreams.map((upstream) => {
      return { upstream, costMs: upstream.costMs(kind, context), inFlight: upstream.inFlight };
    });
  }

  /** The upstreams near the best, as they were a moment ago; of many, not all are looked at per call. */
  #band(kind: MethodClass, nowMs: number): readonly Upstream[] {
    const known = this.#bands.get(kind);
    if (known && nowMs < known.untilMs) return known.upstreams;
    const usable = this.#upstreams.filter((upstream) => upstream.usable);
    const upstreams = nearBest(this.#candidates(kind, usable, nowMs)).map(
      ({ upstream }) => upstream,
    );
    this.#bands.set(kind, { upstreams, untilMs: nowMs + BAND_AGE_MS });
    return upstreams;
  }

  /**
   * As `pick`, but waits for an upstream where one is busy, paced, behind or being looked at.
   * @param untilMs - monotonic time at which waiting ends
   * @returns an upstream with a place reserved; undefined when there is none to be had in time
   */
  async acquire(
    kind: MethodClass,
    tried: readonly Upstream[],
    untilMs: number,
    signal: CancelSignal | undefined,
    wish: Wish = {},
  ): Promise<Upstream | undefined> {
    const place = this.#waiters.join();
    if (!place) return undefined;
    try {
      return await this.#waitFor(kind, tried, untilMs, signal, wish, place);
    } finally {
      place.leave();
    }
  }

  async #waitFor(
    kind: MethodClass,
    tried: readonly Upstream[],
    untilMs: number,
    signal: CancelSignal | undefined,
    wish: Wish,
    place: WaitingPlace,
  ): Promise<Upstream | undefined> {
    const headUntilMs = this.options.clock.monotonic() + this.catchUpMs;
    for (;;) {
      if (signal?.aborted) return undefined;
      const upstream = this.pick(kind, tried, wish);
      if (upstream) return upstream;
      const nowMs = this.options.clock.monotonic();
      if (nowMs >= untilMs) return undefined;

      const waitMs = this.#shortestWait(tried, nowMs, wish);
      if (waitMs === undefined) {
        const hope = this.#hope(tried, wish);
        if (hope === "none" || (hope === "catch-up" && nowMs >= headUntilMs)) return undefined;
        if (hope === "catch-up") void this.#monitor.poke();
        else if (!this.#monitor.verifying) {
          if (!(await this.#monitor.lookAgain())) return this.pick(kind, tried, wish);
          continue;
        }
      } else if (waitMs !== Number.POSITIVE_INFINITY && nowMs + waitMs > untilMs) {
        return undefined;
      }
      await place.nap(waitMs ?? MAX_NAP_MS, Math.min(MAX_NAP_MS, untilMs - nowMs), signal);
    }
  }

  /** Names of all upstreams, of which no new one may be called the same. */
  get names(): Set<string> {
    return new Set([...this.#upstreams, ...this.#leaving].map(({ name }) => name));
  }

  status(): UpstreamStatus[] {
    const context = this.#context();
    return [...this.#upstreams, ...this.#leaving].map((upstream) => statusOf(upstream, context));
  }

  /**
   * Takes a node into use once it has shown to serve this chain.
   * @returns its state; anything but `active` means it was not taken
   */
  async attach(node: NodeLink): Promise<UpstreamStatus> {
    const upstream = this.#newUpstream(node);
    await this.#monitor.verify(upstream);
    if (upstream.usable) {
      this.#upstreams.push(upstream);
      this.#monitor.touch();
      this.#waiters.wakeAll();
    } else {
      upstream.options.connection.close();
    }
    return statusOf(upstream, this.#context());
  }

  /** Sends an upstream no more calls. @returns it, or undefined when none has this id */
  drain(id: string): Upstream | undefined {
    const index = this.#upstreams.findIndex(({ options }) => options.id === id);
    const [upstream] = index === -1 ? [] : this.#upstreams.splice(index, 1);
    if (!upstream) return [...this.#leaving].find(({ options }) => options.id === id);
    upstream.isLeaving = true;
    this.#leaving.add(upstream);
    this.#monitor.forget(upstream);
    // Who waits for this one must look for another.
    this.#waiters.wakeAll();
    return upstream;
  }

  /** Drains an upstream and drops it once its calls have ended. @returns false when unknown */
  async remove(id: string): Promise<boolean> {
    if (!this.drain(id)) return false;
    await this.discard(id);
    return true;
  }

  /** Drops the drained upstreams of an id once their calls have ended. */
  async discard(id: string): Promise<void> {
    const { clock } = this.options;
    const untilMs = clock.monotonic() + MAX_LEAVING_MS;
    for (const upstream of this.#leaving) {
      if (upstream.options.id !== id) continue;
      while (upstream.inFlight > 0 && clock.monotonic() < untilMs) {
        await clock.sleep(LEAVING_NAP_MS);
      }
      this.#leaving.delete(upstream);
      upstream.options.connection.close();
    }
  }

  /** Time until an upstream in use takes requests again, where pace or load is all that lacks, ms. */
  get busyMs(): number | undefined {
    const nowMs = this.options.clock.monotonic();
    const waits = this.#upstreams
      .filter(({ usable }) => usable)
      .map((upstream) => upstream.admissionWaitMs(nowMs));
    const shortest = Math.min(...waits);
    if (waits.length === 0 || shortest === 0) return undefined;
    return Number.isFinite(shortest) ? shortest : MIN_BUSY_MS;
  }

  close(): void {
    this.#monitor.close();
    this.#waiters.wakeAll();
    for (const { options } of [...this.#upstreams, ...this.#leaving]) options.connection.close();
  }

  #newUpstream(node: NodeLink): Upstream {
    const { chain, clock, memory, observer } = this.options;
    return new Upstream({
      ...node,
      chainId: chain.id,
      judgeError: protocolOf(chain.kind).judgeError,
      maxConcurrent: node.maxConcurrent ?? DEFAULT_MAX_CONCURRENT,
      memory,
      clock,
      observer,
      hasPeer: (self) => this.#upstreams.some((other) => other !== self && other.usable),
      onFault: (self) => this.#monitor.hurry(self),
      onFree: () => this.#waiters.wakeOne(),
    });
  }

  /** Whether an upstream takes a call now. */
  #takes(
    upstream: Upstream,
    tried: readonly Upstream[],
    wish: Wish,
    minHead: number | undefined,
    nowMs: number,
  ): boolean {
    return (
      this.#isEligible(upstream, tried, wish, minHead, nowMs) &&
      upstream.admissionWaitMs(nowMs) === 0
    );
  }

  /** Whether a call may be sent to an upstream as far as state, head and methods go. */
  #isEligible(
    upstream: Upstream,
    tried: readonly Upstream[],
    wish: Wish,
    minHead: number | undefined,
    nowMs: number,
  ): boolean {
    if (!upstream.usable || tried.includes(upstream) || wish.suits?.(upstream) === false) {
      return false;
    }
    if (this.#isBehind(upstream, minHead)) return false;
    const { method } = wish;
    if (method === undefined || !upstream.lacks(method, nowMs)) return true;
    // While another serves the method, one that does not is not asked, not even as a second.
    return !this.#upstreams.some((other) => other.usable && !other.lacks(method, nowMs));
  }

  /**
   * What may be waited for when no upstream can be sent the call: that one which is behind catches
   * up, or that one is found to be back. Neither, while one that was tried is healthy, which is
   * better asked again than waiting for a sick one, or none that is healthy suits the call.
   */
  #hope(tried: readonly Upstream[], wish: Wish): "catch-up" | "return" | "none" {
    const usable = this.upstreams.filter((upstream) => upstream.usable);
    const suitable = usable.filter((upstream) => wish.suits?.(upstream) !== false);
    const minHead = wish.minHead?.();
    if (suitable.some((one) => !tried.includes(one) && this.#isBehind(one, minHead)))
      return "catch-up";
    return usable.length > 0 ? "none" : "return";
  }

  /** Time until a healthy upstream admits a request, ms; undefined when none is eligible. */
  #shortestWait(tried: readonly Upstream[], nowMs: number, wish: Wish): number | undefined {
    let shortest: number | undefined;
    const minHead = wish.minHead?.();
    for (const upstream of this.upstreams) {
      if (!this.#isEligible(upstream, tried, wish, minHead, nowMs)) continue;
      shortest = Math.min(shortest ?? Number.POSITIVE_INFINITY, upstream.admissionWaitMs(nowMs));
    }
    return shortest;
  }

  #context(nowMs = this.options.clock.monotonic()) {
    return {
      nowMs,
      chainHead: this.#monitor.head,
      blockTimeMs: this.options.chain.blockTimeMs,
    };
  }

  #isBehind(upstream: Upstream, minHead: number | undefined): boolean {
    return minHead !== undefined && (this.trustedHead(upstream) ?? -1) < minHead;
  }
}

import type { Chain } from "../chains/index.ts";
import type { Clock } from "../lib/clock.ts";
import { SingleFlight } from "../lib/singleFlight.ts";
import type { Verdict } from "./classify.ts";
import { forgive, p95Ms, readmit } from "./health.ts";
import type { UpstreamObserver } from "./observer.ts";
import { type ChainProtocol, protocolOf } from "./protocol.ts";
import { Heads } from "./reads/heads.ts";
import { resultOf, type Upstream } from "./upstream.ts";

/** Heads are asked for once per block, within these bounds. */
const MIN_POLL_MS = 1_000;
const MAX_POLL_MS = 12_000;
/** A chain nobody calls is not watched either. */
const IDLE_AFTER_MS = 300_000;
/** Shortest and longest time a probe or head poll may take; between them, four times the p95. */
const MIN_PROBE_MS = 1_000;
const MAX_PROBE_MS = 5_000;
/** How often an upstream of the wrong chain is looked at again. */
const WRONG_CHAIN_RECHECK_MS = 30_000;
/** Callers who find no usable upstream may have each probed again this often. */
const MIN_DEMAND_GAP_MS = 100;

/** Callers who need a newer head may have all upstreams looked at this often: a quarter block. */
const MIN_POKE_GAP_MS = 50;
const MAX_POKE_GAP_MS = 500;

/** Calls per upstream since the last such look that make a new block worth one of all upstreams. */
const POKE_WORTH_CALLS = 20;

/** An upstream in use that just failed is looked at this soon. */
const SUSPECT_LOOK_MS = 250;

interface NextLook {
  readonly dueMs: number;
  readonly timer: ReturnType<typeof setTimeout>;
}

export interface MonitorOptions {
  readonly chain: Pick<Chain, "id" | "kind" | "blockTimeMs">;
  readonly upstreams: readonly Upstream[];
  readonly clock: Clock;
  readonly observer: UpstreamObserver;
  /** False for short-lived upstreams, which are verified but not watched. */
  readonly poll: boolean;
  /** Called when an upstream became usable, or was found not to be, or showed a higher head. */
  readonly onChange: () => void;
  /** Called when the chain itself went back to `head`. */
  readonly onRollback: (head: number) => void;
}

/**
 * Watches a chain's upstreams: which chain they serve, their heads, and the return of ejected ones.
 * Begins with the first call, pauses when calls stop.
 */
export class Monitor {
  #lastUseMs = 0;
  #callsSincePoke = 0;
  #pokedAtMs = Number.NEGATIVE_INFINITY;
  #poke: Promise<void> | undefined;
  readonly #heads: Heads;
  /** When each upstream's head was last raised, so that a look from before changes nothing. */
  readonly #raisedAtMs = new WeakMap<Upstream, number>();
  #closed = false;
  readonly #protocol: ChainProtocol;
  readonly #verifying = new SingleFlight<boolean>();
  readonly #verifiedAtMs = new Map<Upstream, number>();
  /** Upstreams being watched, with their next look; none while a look is under way. */
  readonly #watched = new Map<Upstream, NextLook | undefined>();
  /** Verifications under way. */
  #pending = 0;

  constructor(private readonly options: MonitorOptions) {
    this.#protocol = protocolOf(options.chain.kind);
    const { blockTimeMs } = options.chain;
    this.#heads = new Heads({ blockTimeMs, now: () => options.clock.monotonic() });
  }

  /** Highest block the upstreams have shown; moves back only when none has shown it for a while. */
  get head(): number | undefined {
    return this.#heads.highest;
  }

  /**
   * Notes a block that an upstream's answer showed.
   * @returns false when it leaps ahead of the chain and no other upstream confirms it
   */
  learnHead(upstream: Upstream, block: number): boolean {
    const known = upstream.health.head;
    if (known !== undefined && block <= known) return true;
    const isNew = block > (this.head ?? 0);
    if (!this.#heads.claim(upstream, block, this.#hasPeer(upstream))) return false;
    this.#setHead(upstream, block);
    // The others likely have it too, and are to share the calls that ask for it.
    const isWorth = this.#callsSincePoke >= POKE_WORTH_CALLS * this.options.upstreams.length;
    if (isNew && isWorth) void this.poke();
    return true;
  }

  /**
   * Notes that an upstream, asked at a moment about its tip, answered with a block.
   * @returns false when it had shown a higher one before it was asked
   */
  isHead(upstream: Upstream, block: number, askedAtMs: number): boolean {
    const known = upstream.health.head;
    if (known === undefined || block >= known) return true;
    const raisedAtMs = this.#raisedAtMs.get(upstream) ?? Number.POSITIVE_INFINITY;
    if (raisedAtMs < askedAtMs) this.#setHead(upstream, block);
    return false;
  }

  /** The block from which an upstream will answer at least; undefined while its head is unknown. */
  trustedHead(upstream: Upstream): number | undefined {
    const { head } = upstream.health;
    return head === undefined ? undefined : head - this.#heads.spread(upstream);
  }

  /** Looks at the heads of all upstreams in use, at most once per quarter of a block. */
  poke(): Promise<void> {
    const { clock, chain, upstreams } = this.options;
    const nowMs = clock.monotonic();
    const gapMs = Math.min(MAX_POKE_GAP_MS, Math.max(MIN_POKE_GAP_MS, chain.blockTimeMs / 4));
    if (this.#closed || nowMs - this.#pokedAtMs < gapMs) return this.#poke ?? Promise.resolve();
    this.#pokedAtMs = nowMs;
    this.#callsSincePoke = 0;
    const free = upstreams.filter((one) => one.usable && one.admissionWaitMs(nowMs) === 0);
    const looks = free.map(async (upstream) => this.#pollHead(upstream));
    const poke = Promise.all(looks)
      .then(() => undefined)
      .finally(() => {
        if (this.#poke === poke) this.#poke = undefined;
      });
    this.#poke = poke;
    return poke;
  }

  /** True while some upstream's first look or probe is under way. */
  get verifying(): boolean {
    return this.#pending > 0;
  }

  /** Notes a call on this chain, which starts or continues the watch. */
  touch(nowMs = this.options.clock.monotonic()): void {
    this.#lastUseMs = nowMs;
    this.#callsSincePoke++;
    // Most often all are watched already.
    if (this.#closed || this.#watched.size === this.options.upstreams.length) return;
    for (const upstream of this.options.upstreams) {
      const due = this.options.poll || !upstream.usable;
      if (due && !this.#watched.has(upstream)) void this.#watch(upstream);
    }
  }

  /** Notes that an upstream failed, so that it is looked at before its next turn. */
  hurry(upstream: Upstream): void {
    const next = this.#watched.get(upstream);
    if (!next || this.#closed) return;
    if (next.dueMs <= this.options.clock.monotonic() + this.#nextLookMs(upstream)) return;
    clearTimeout(next.timer);
    this.#schedule(upstream);
  }

  /**
   * Looks now at the upstreams that are not in use, for a caller who has no other.
   * @returns once one of them is usable, or all have failed
   */
  async lookAgain(): Promise<boolean> {
    const nowMs = this.options.clock.monotonic();
    const waiting = this.options.upstreams.filter(
      (upstream) =>
        !upstream.usable &&
        upstream.identity !== "wrong" &&
        nowMs - (this.#verifiedAtMs.get(upstream) ?? Number.NEGATIVE_INFINITY) > MIN_DEMAND_GAP_MS,
    );
    const looks = waiting.map(async (upstream) => {
      if (!(await this.verify(upstream))) throw new Error("upstream is still away");
    });
    return Promise.any(looks).then(
      () => true,
      () => false,
    );
  }

  /** Watches an upstream no more. */
  forget(upstream: Upstream): void {
    clearTimeout(this.#watched.get(upstream)?.timer);
    this.#watched.delete(upstream);
    this.#verifiedAtMs.delete(upstream);
    this.#heads.forget(upstream);
  }

  close(): void {
    this.#closed = true;
    for (const next of this.#watched.values()) clearTimeout(next?.timer);
    this.#watched.clear();
  }

  async #watch(upstream: Upstream): Promise<void> {
    this.#watched.set(upstream, undefined);
    if (upstream.usable) await this.#look(upstream);
    else await this.verify(upstream);
    const idle = this.options.clock.monotonic() - this.#lastUseMs > IDLE_AFTER_MS;
    if (this.#closed || idle || !this.options.poll || upstream.isLeaving) {
      this.#watched.delete(upstream);
      return;
    }
    this.#schedule(upstream);
  }

  /** Looks at an upstream in use. A look that fails, or succeeds, settles a suspicion at once. */
  async #look(upstream: Upstream): Promise<void> {
    if (upstream.admissionWaitMs(this.options.clock.monotonic()) > 0) return;
    const { health } = upstream;
    const wasSuspect = health.consecutiveFailures > 0;
    if (await this.#pollHead(upstream)) {
      if (wasSuspect) forgive(health);
      return;
    }
    const isSuspect = health.consecutiveFailures > 0;
    if (isSuspect && this.#hasPeer(upstream) && !upstream.ejected) upstream.eject();
  }

  #hasPeer(upstream: Upstream): boolean {
    return this.options.upstreams.some((other) => other !== upstream && other.usable);
  }

  #schedule(upstream: Upstream): void {
    const waitMs = this.#nextLookMs(upstream);
    const timer = setTimeout(() => void this.#watch(upstream), waitMs);
    timer.unref();
    this.#watched.set(upstream, { dueMs: this.options.clock.monotonic() + waitMs, timer });
  }

  #nextLookMs(upstream: Upstream): number {
    const { probeAtMs, consecutiveFailures } = upstream.health;
    if (upstream.identity === "wrong") return WRONG_CHAIN_RECHECK_MS;
    if (probeAtMs !== undefined) return Math.max(0, probeAtMs - this.options.clock.monotonic());
    if (consecutiveFailures > 0) return SUSPECT_LOOK_MS;
    if (upstream.health.classes.read.isGuess) return MIN_POLL_MS;
    return Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, this.options.chain.blockTimeMs));
  }

  async #pollHead(upstream: Upstream): Promise<boolean> {
    const startMs = this.options.clock.monotonic();
    const verdict = await this.#ask(upstream, this.#protocol.headMethod);
    const head = this.#protocol.parseHead(resultOf(verdict));
    if (head === undefined) return false;
    const isStale = (this.#raisedAtMs.get(upstream) ?? Number.NEGATIVE_INFINITY) > startMs;
    if (isStale && head < (upstream.health.head ?? 0)) return true;
    if (this.#heads.claim(upstream, head, this.#hasPeer(upstream))) this.#setHead(upstream, head);
    else if ((upstream.health.head ?? 0) > (this.head ?? 0)) upstream.health.head = undefined;
    this.#settleHead();
    return true;
  }

  #setHead(upstream: Upstream, head: number): void {
    const known = upstream.health.head;
    upstream.health.head = head;
    if (known !== undefined && head < known) this.#heads.wentBack(upstream, known, head);
    if (known !== undefined && head <= known) return;
    this.#raisedAtMs.set(upstream, this.options.clock.monotonic());
    this.options.onChange();
  }

  #settleHead(): void {
    let best: number | undefined;
    for (const { usable, health } of this.options.upstreams) {
      if (usable && health.head !== undefined) best = Math.max(best ?? 0, health.head);
    }
    if (best !== undefined && this.#heads.settle(best)) this.options.onRollback(best);
  }

  #ask(upstream: Upstream, method: string): Promise<Verdict> {
    const timeoutMs = Math.max(MIN_PROBE_MS, 4 * p95Ms(upstream.health, "read"));
    return upstream.ask({ method, params: undefined }, Math.min(MAX_PROBE_MS, timeoutMs));
  }

  /** Finds out whether a node serves the chain and answers. @returns whether it does */
  verify(upstream: Upstream): Promise<boolean> {
    return this.#verifying.run(upstream.name, async () => {
      this.#pending++;
      try {
        return await this.#lookAt(upstream);
      } finally {
        this.#pending--;
        this.#verifiedAtMs.set(upstream, this.options.clock.monotonic());
        this.options.onChange();
      }
    });
  }

  /** Asks which chain the node serves, then for its head, as one real read. */
  async #lookAt(upstream: Upstream): Promise<boolean> {
    const startMs = this.options.clock.monotonic();
    const identity = await this.#askIdentity(upstream);
    if (identity === "wrong") {
      this.#setIdentity(upstream, identity);
      return false;
    }
    const alive = identity === "right" && (await this.#pollHead(upstream));
    const nowMs = this.options.clock.monotonic();
    if (!alive) {
      upstream.eject();
      return false;
    }
    this.#setIdentity(upstream, "right");
    if (upstream.ejected) {
      readmit(upstream.health, nowMs - startMs, nowMs);
      this.#announce(upstream, "active");
    }
    return true;
  }

  async #askIdentity(upstream: Upstream): Promise<Upstream["identity"]> {
    const verdict = await this.#ask(upstream, this.#protocol.identityMethod);
    const result = resultOf(verdict);
    if (result === undefined) {
      const isHidden = verdict.kind === "retry" && verdict.reason === "unsupported-method";
      return isHidden && this.#protocol.mayHideIdentity ? "right" : "unknown";
    }
    return this.#protocol.isChain(result, this.options.chain.id) ? "right" : "wrong";
  }

  #setIdentity(upstream: Upstream, identity: "right" | "wrong"): void {
    if (upstream.identity === identity) return;
    upstream.identity = identity;
    if (identity === "wrong") this.#announce(upstream, "wrong-chain");
    else if (!upstream.ejected) this.#announce(upstream, "active");
  }

  #announce(upstream: Upstream, state: "active" | "wrong-chain"): void {
    this.options.observer.state?.({
      chainId: this.options.chain.id,
      upstream: upstream.name,
      state,
    });
  }
}

import type { Chain } from "../chains/index.ts";
import type { Clock } from "../lib/clock.ts";
import { SingleFlight } from "../lib/singleFlight.ts";
import type { Verdict } from "./classify.ts";
import { forgive, p95Ms, readmit } from "./health.ts";
import type { UpstreamObserver } from "./observer.ts";
import { type ChainProtocol, protocolOf } from "./protocol.ts";
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
  /** Called when an upstream became usable, or was found not to be. */
  readonly onChange: () => void;
}

/**
 * Watches a chain's upstreams: which chain they serve, their heads, and the return of ejected ones.
 * Begins with the first call, pauses when calls stop.
 */
export class Monitor {
  #head: number | undefined;
  #lastUseMs = 0;
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
  }

  /** Highest block any upstream has shown; never moves backwards. */
  get head(): number | undefined {
    return this.#head;
  }

  /** True while some upstream's first look or probe is under way. */
  get verifying(): boolean {
    return this.#pending > 0;
  }

  /** Notes a call on this chain, which starts or continues the watch. */
  touch(): void {
    this.#lastUseMs = this.options.clock.monotonic();
    if (this.#closed) return;
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
      if (!(await this.#verify(upstream))) throw new Error("upstream is still away");
    });
    return Promise.any(looks).then(
      () => true,
      () => false,
    );
  }

  close(): void {
    this.#closed = true;
    for (const next of this.#watched.values()) clearTimeout(next?.timer);
    this.#watched.clear();
  }

  async #watch(upstream: Upstream): Promise<void> {
    this.#watched.set(upstream, undefined);
    if (upstream.usable) await this.#look(upstream);
    else await this.#verify(upstream);
    const idle = this.options.clock.monotonic() - this.#lastUseMs > IDLE_AFTER_MS;
    if (this.#closed || idle || !this.options.poll) {
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
    const hasPeer = this.options.upstreams.some((other) => other !== upstream && other.usable);
    if (health.consecutiveFailures > 0 && hasPeer && !upstream.ejected) upstream.eject();
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
    const verdict = await this.#ask(upstream, this.#protocol.headMethod);
    const head = this.#protocol.parseHead(resultOf(verdict));
    if (head === undefined) return false;
    upstream.health.head = head;
    if (this.#head === undefined || head > this.#head) this.#head = head;
    return true;
  }

  #ask(upstream: Upstream, method: string): Promise<Verdict> {
    const timeoutMs = Math.max(MIN_PROBE_MS, 4 * p95Ms(upstream.health, "read"));
    return upstream
      .reserve()
      .attempt(
        { method, params: undefined },
        "read",
        Math.min(MAX_PROBE_MS, timeoutMs),
        new AbortController(),
      );
  }

  #verify(upstream: Upstream): Promise<boolean> {
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
    const { identityMethod } = this.#protocol;
    if (identityMethod === undefined) return "right";
    const result = resultOf(await this.#ask(upstream, identityMethod));
    if (result === undefined) return "unknown";
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

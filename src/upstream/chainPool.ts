import type { Chain } from "../chains/index.ts";
import type { Clock, Random } from "../lib/clock.ts";
import { RetryBudget } from "./budget.ts";
import { choose } from "./choose.ts";
import type { Connection } from "./connection.ts";
import { Pace } from "./limits.ts";
import type { MethodClass } from "./methodClass.ts";
import { Monitor } from "./monitor.ts";
import type { UpstreamObserver } from "./observer.ts";
import type { UpstreamStatus } from "./types.ts";
import { Upstream } from "./upstream.ts";
import { Waiters } from "./waiters.ts";

/** Requests in flight per upstream when its registry entry names no limit. */
const DEFAULT_MAX_CONCURRENT = 256;
/** Callers that may wait for an upstream of one chain; more are refused at once. */
const MAX_WAITERS = 10_000;
/** Waiters look again at least this often, in case a wake-up went to one who could not use it. */
const MAX_NAP_MS = 250;

/** One node of a chain, connected. */
export interface NodeLink {
  readonly name: string;
  readonly connection: Connection;
  /** Shared by the upstreams of one vendor account. */
  readonly pace: Pace;
  readonly maxConcurrent: number | undefined;
}

export interface ChainPoolOptions {
  readonly chain: Pick<Chain, "id" | "kind" | "blockTimeMs">;
  readonly nodes: readonly NodeLink[];
  readonly clock: Clock;
  readonly random: Random;
  readonly observer: UpstreamObserver;
  /** False for a pool that lives too briefly to be watched. */
  readonly poll: boolean;
}

/** The upstreams of one chain, and the choice among them. */
export class ChainPool {
  readonly upstreams: readonly Upstream[];
  readonly budget: RetryBudget;
  readonly #monitor: Monitor;
  readonly #waiters = new Waiters(MAX_WAITERS);

  constructor(readonly options: ChainPoolOptions) {
    const { chain, clock, observer } = options;
    this.budget = new RetryBudget(() => clock.monotonic());
    this.upstreams = options.nodes.map(
      ({ name, connection, pace, maxConcurrent }) =>
        new Upstream({
          chainId: chain.id,
          name,
          connection,
          pace,
          maxConcurrent: maxConcurrent ?? DEFAULT_MAX_CONCURRENT,
          clock,
          observer,
          hasPeer: (self) => this.upstreams.some((other) => other !== self && other.usable),
          onFault: (self) => this.#monitor.hurry(self),
          onFree: () => this.#waiters.wakeOne(),
        }),
    );
    this.#monitor = new Monitor({
      chain,
      upstreams: this.upstreams,
      clock,
      observer,
      poll: options.poll,
      onChange: () => this.#waiters.wakeAll(),
    });
  }

  get head(): number | undefined {
    return this.#monitor.head;
  }

  /** Notes a call from a caller: pays into the budget, keeps the watch going. */
  begin(): void {
    this.budget.deposit();
    this.#monitor.touch();
  }

  /**
   * The best upstream that takes a request now, other than those already tried, with a place
   * reserved: the caller must send or `release`.
   */
  pick(kind: MethodClass, tried: ReadonlySet<Upstream>): Upstream | undefined {
    const context = this.#context();
    const candidates: { upstream: Upstream; costMs: number; inFlight: number }[] = [];
    for (const upstream of this.upstreams) {
      if (!upstream.usable || tried.has(upstream)) continue;
      if (upstream.admissionWaitMs(context.nowMs) > 0) continue;
      const costMs = upstream.costMs(kind, context);
      candidates.push({ upstream, costMs, inFlight: upstream.inFlight });
    }
    return choose(candidates, this.options.random)?.upstream.reserve();
  }

  /**
   * As `pick`, but waits for an upstream where one is busy, paced or being looked at.
   * @param untilMs - monotonic time at which waiting ends
   * @returns an upstream with a place reserved; undefined when there is none to be had in time
   */
  async acquire(
    kind: MethodClass,
    tried: ReadonlySet<Upstream>,
    untilMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Upstream | undefined> {
    for (;;) {
      if (signal?.aborted) return undefined;
      const upstream = this.pick(kind, tried);
      if (upstream) return upstream;
      const nowMs = this.options.clock.monotonic();
      if (nowMs >= untilMs) return undefined;

      const waitMs = this.#shortestWait(tried, nowMs);
      if (waitMs === undefined) {
        if (this.#canRepeat(tried)) return undefined;
        if (!this.#monitor.verifying) {
          if (!(await this.#monitor.lookAgain())) return this.pick(kind, tried);
          continue;
        }
      } else if (waitMs !== Number.POSITIVE_INFINITY && nowMs + waitMs > untilMs) {
        return undefined;
      }
      const napMs = Math.min(waitMs ?? MAX_NAP_MS, MAX_NAP_MS, untilMs - nowMs);
      if (!(await this.#waiters.wait(napMs, signal))) return undefined;
    }
  }

  status(): UpstreamStatus[] {
    const context = this.#context();
    return this.upstreams.map((upstream) => upstream.status(context));
  }

  close(): void {
    this.#monitor.close();
    this.#waiters.wakeAll();
    for (const { connection } of this.options.nodes) connection.close();
  }

  /** Whether one that was tried is still healthy; better asked again than waiting for a sick one. */
  #canRepeat(tried: ReadonlySet<Upstream>): boolean {
    return this.upstreams.some((upstream) => tried.has(upstream) && upstream.usable);
  }

  /** Time until a healthy upstream admits a request, ms; undefined when none is healthy. */
  #shortestWait(tried: ReadonlySet<Upstream>, nowMs: number): number | undefined {
    let shortest: number | undefined;
    for (const upstream of this.upstreams) {
      if (!upstream.usable || tried.has(upstream)) continue;
      shortest = Math.min(shortest ?? Number.POSITIVE_INFINITY, upstream.admissionWaitMs(nowMs));
    }
    return shortest;
  }

  #context() {
    return {
      nowMs: this.options.clock.monotonic(),
      chainHead: this.#monitor.head,
      blockTimeMs: this.options.chain.blockTimeMs,
    };
  }
}

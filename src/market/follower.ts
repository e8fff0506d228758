import type { Address } from "viem";
import type { Clock } from "../lib/clock.ts";
import { SingleFlight } from "../lib/singleFlight.ts";
import { checksummed } from "./candidates.ts";
import type { ChainMarket } from "./chainMarket.ts";
import type { FoundPool, TokenPair } from "./discover.ts";
import type { MarketObserver, MarketStep } from "./observer.ts";
import type { Snapshot } from "./pool.ts";
import { Serial, within } from "./waiting.ts";

/** Heads are asked for once per block, but at least this often. */
const MAX_POLL_MS = 2_000;
/** A chain nobody asks about is not followed either. */
const IDLE_AFTER_MS = 300_000;
/** Factories are asked for new pools this often, and again this soon after a failure. */
const REDISCOVER_MS = 600_000;
const REDISCOVER_AFTER_FAILURE_MS = 1_000;
/** Longest wait for a refresh before a request is refused. */
const REFRESH_WAIT_MS = 3_000;
/** Longest wait for pools that are being loaded before quotes do without them. */
const LOAD_WAIT_MS = 2_500;
/** A block that was announced is looked for at this pace, for this long. */
const ANNOUNCED_POLL_MS = 50;
const ANNOUNCED_FOR_MS = 1_000;

/** The market's state cannot be brought up to date: no node answers, or none in time. */
export class MarketUnavailableError extends Error {
  override readonly name = "MarketUnavailableError";
}

export interface SnapshotRequest {
  /** Oldest state to accept, ms; the chain's default where left out. */
  readonly maxAgeMs?: number;
  /** Two tokens that will be traded; pools of tokens not known yet are looked for first. */
  readonly tokens?: readonly [string, string];
}

export interface FollowerOptions {
  readonly chainId: number;
  readonly blockTimeMs: number;
  readonly market: ChainMarket;
  readonly clock: Clock;
  readonly observer: MarketObserver;
  /** The highest block anybody heard of. */
  readonly seenHead: () => number | undefined;
  /** Oldest state that is given out by default, ms. */
  readonly maxAgeMs: number;
}

/**
 * Keeps one chain's memory at the chain's head while somebody asks for it. Begins with the first
 * request and pauses when requests stop.
 */
export class Follower {
  readonly #serial = new Serial();
  readonly #flights = new SingleFlight<void>();
  readonly #pollMs: number;
  #lastUseMs = 0;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #discoverAtMs = Number.NEGATIVE_INFINITY;
  /** Set while pools wait that were never loaded; resolves when none does. */
  #loading: { readonly sinceMs: number; readonly done: PromiseWithResolvers<void> } | undefined;
  #announced: { readonly number: number; readonly untilMs: number } | undefined;
  /** The pair asked for last, whose pools are loaded first. */
  #wanted: TokenPair | undefined;
  #isStopped = false;
  #loop: Promise<void> | undefined;
  #pause = new AbortController();

  constructor(private readonly options: FollowerOptions) {
    this.#pollMs = Math.min(options.blockTimeMs, MAX_POLL_MS);
  }

  /** Whether the chain is being followed now. */
  get isFollowing(): boolean {
    return this.#loop !== undefined;
  }

  /** Time since a node was last asked and had nothing newer, ms. */
  get ageMs(): number {
    return this.options.clock.monotonic() - this.options.market.confirmedAtMs;
  }

  /**
   * The pools at the newest block. Answers from memory while that is young enough; otherwise asks
   * the chain once, for all who wait.
   * @throws MarketUnavailableError when the state stays older than `maxAgeMs`
   */
  async snapshot(request: SnapshotRequest = {}): Promise<Snapshot> {
    const { clock, market, chainId } = this.options;
    const notBeforeMs = clock.monotonic() - (request.maxAgeMs ?? this.options.maxAgeMs);
    const pair = request.tokens && checksummedPair(request.tokens);
    this.#touch();
    this.#noteHead();
    if (market.confirmedAtMs < notBeforeMs) await this.#waitForRefresh(notBeforeMs);
    if (pair && !market.universe.knows(...pair)) await this.#waitForTokens(pair);
    if (this.#loading) await this.#waitForPools(this.#loading, pair);
    if (!market.snapshot || market.confirmedAtMs < notBeforeMs) {
      throw new MarketUnavailableError(`the state of chain ${chainId} is too old`);
    }
    return market.snapshot;
  }

  /** Asks the chain for its newest block now and carries the state there. */
  refresh(): Promise<void> {
    const { clock, market } = this.options;
    return this.#flights.run("refresh", () =>
      this.#serial.run(async () => {
        this.#askedAtMs = clock.monotonic();
        await market.refresh();
        this.#noteProgress();
        if (market.queue.nextDueMs(clock.monotonic()) === 0) this.#pause.abort();
      }),
    );
  }

  /** A block that others have heard of is looked for without waiting for the next poll. */
  #noteHead(): void {
    const number = this.options.seenHead() ?? -1;
    if (this.#hasReached(number) || (this.#announced?.number ?? -1) >= number) return;
    this.#announced = { number, untilMs: this.options.clock.monotonic() + ANNOUNCED_FOR_MS };
    this.#askedAtMs = Number.NEGATIVE_INFINITY;
    this.#pause.abort();
  }

  /** Has a pool that is known to be wrong loaded anew; it is not quoted meanwhile. */
  async distrust(address: string, reason: string): Promise<void> {
    const { market } = this.options;
    await this.#serial.run(async () => market.distrust(address, reason));
    this.#pause.abort();
  }

  /** Stops following for good. Resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#pause.abort();
    await this.#loop;
  }

  #touch(): void {
    this.#lastUseMs = this.options.clock.monotonic();
    if (this.#isStopped) throw new MarketUnavailableError("the market is stopped");
    this.#loop ??= this.#follow().finally(() => {
      this.#loop = undefined;
    });
  }

  async #follow(): Promise<void> {
    const { clock, market } = this.options;
    while (!this.#isStopped && clock.monotonic() - this.#lastUseMs < IDLE_AFTER_MS) {
      await this.#attempt("refresh", async () => {
        if (this.#refreshInMs() <= 0) await this.refresh();
      });
      if (market.snapshot) {
        await this.#attempt("discover", () => this.#discoverDue());
        await this.#attempt("load", () => this.#serial.run(() => this.#loadDue()));
      }
      await this.#sleep(this.#nextStepMs());
    }
  }

  async #attempt(step: MarketStep, task: () => Promise<void>): Promise<void> {
    try {
      await task();
    } catch (error) {
      this.#report(step, error);
    }
  }

  #report(step: MarketStep, error: unknown): void {
    if (this.#isStopped) return;
    this.options.observer.failure?.({ chainId: this.options.chainId, step, error });
  }

  async #discoverDue(): Promise<void> {
    const { clock, market } = this.options;
    const nowMs = clock.monotonic();
    if (nowMs < this.#discoverAtMs) return;
    this.#discoverAtMs = nowMs + REDISCOVER_AFTER_FAILURE_MS;
    await this.#serial.run(() => market.discover(market.universe.pairs));
    this.#discoverAtMs = nowMs + REDISCOVER_MS;
    this.#noteProgress();
  }

  async #loadDue(): Promise<void> {
    const wanted = this.#wanted;
    const isFirst = ({ token0, token1 }: FoundPool) =>
      wanted !== undefined && (wanted.includes(token0) || wanted.includes(token1));
    await this.options.market.loadNext(isFirst);
    this.#noteProgress();
  }

  /** Waits for the pause of the loop to be over, or for being woken. */
  async #sleep(ms: number): Promise<void> {
    this.#pause = new AbortController();
    if (ms <= 0 || this.#isStopped) return;
    await this.options.clock.sleep(ms, this.#pause.signal).catch(() => {});
  }

  #nextStepMs(): number {
    const { clock, market } = this.options;
    const nowMs = clock.monotonic();
    const waits = [this.#refreshInMs()];
    if (market.snapshot) {
      waits.push(this.#discoverAtMs - nowMs, market.queue.nextDueMs(nowMs) ?? this.#pollMs);
    }
    return Math.min(...waits);
  }

  #refreshInMs(): number {
    const nowMs = this.options.clock.monotonic();
    const announced = this.#announced;
    const isAwaited = announced && nowMs < announced.untilMs && !this.#hasReached(announced.number);
    const paceMs = isAwaited ? Math.min(this.#pollMs, ANNOUNCED_POLL_MS) : this.#pollMs;
    return this.#askedAtMs + paceMs - nowMs;
  }

  #hasReached(number: number): boolean {
    return Number(this.options.market.snapshot?.blockNumber ?? -1n) >= number;
  }

  /** Keeps track of whether pools still wait for their first load. */
  #noteProgress(): void {
    const { market, clock } = this.options;
    const isLoading = this.#discoverAtMs === Number.NEGATIVE_INFINITY || market.queue.hasUntried;
    if (isLoading) {
      this.#loading ??= { sinceMs: clock.monotonic(), done: Promise.withResolvers() };
    } else {
      this.#loading?.done.resolve();
      this.#loading = undefined;
    }
  }

  async #waitForRefresh(notBeforeMs: number): Promise<void> {
    const { clock, market, chainId } = this.options;
    try {
      await within(clock, REFRESH_WAIT_MS, this.#refreshSince(notBeforeMs));
    } catch (error) {
      this.#report("refresh", error);
      if (market.confirmedAtMs < notBeforeMs) {
        throw new MarketUnavailableError(`chain ${chainId} cannot be read`, { cause: error });
      }
    }
  }

  /** A refresh that is under way already may have asked too early; the next one has not. */
  async #refreshSince(notBeforeMs: number): Promise<void> {
    await this.refresh();
    if (this.options.market.confirmedAtMs < notBeforeMs) await this.refresh();
  }

  async #waitForTokens(pair: TokenPair): Promise<void> {
    const { clock, market, chainId } = this.options;
    this.#wanted = pair;
    const { added, evicted } = market.universe.admit(...pair);
    market.forget(evicted);
    if (!market.snapshot) return;
    const discovery = this.#flights.run(`discover ${pair.join()}`, () =>
      this.#serial.run(async () => {
        await market.discover(added);
        this.#noteProgress();
        this.#pause.abort();
      }),
    );
    try {
      await within(clock, REFRESH_WAIT_MS, discovery);
    } catch (error) {
      // The next discovery of all pairs makes up for it.
      this.#discoverAtMs = clock.monotonic() + REDISCOVER_AFTER_FAILURE_MS;
      throw new MarketUnavailableError(`chain ${chainId} cannot be read`, { cause: error });
    }
  }

  /** Waits for pools under way, within one budget for all requests since they began to be. */
  async #waitForPools(
    { sinceMs, done }: { readonly sinceMs: number; readonly done: PromiseWithResolvers<void> },
    pair: TokenPair | undefined,
  ): Promise<void> {
    const { clock } = this.options;
    if (pair) this.#wanted = pair;
    const leftMs = sinceMs + LOAD_WAIT_MS - clock.monotonic();
    if (leftMs > 0) await within(clock, leftMs, done.promise);
  }
}

function checksummedPair(tokens: readonly [string, string]): [Address, Address] {
  return [checksummed(tokens[0]), checksummed(tokens[1])];
}

import type { Address } from "viem";
import type { Chain } from "../chains/index.ts";
import type { Clock } from "../lib/clock.ts";
import { advance, type ChainState } from "./advance.ts";
import { discoverPools, type FoundPool, type TokenPair } from "./discover.ts";
import { violationOf } from "./invariants.ts";
import { type FoundV2, type FoundV3, type LoadForm, PoolLoader } from "./load.ts";
import { LoadQueue } from "./loadQueue.ts";
import type { MarketObserver } from "./observer.ts";
import { type BlockRef, createSnapshot, type MarketPool, type Snapshot } from "./pool.ts";
import { type ChainReader, NodeAnswerError, PinnedReader } from "./reader.ts";
import { TokenUniverse } from "./tokenUniverse.ts";

/** States kept for undoing replaced blocks. */
const HISTORY_STATES = 64;
/** Pools loaded at once; head and quotes wait for no more than these. */
const LOADS_AT_ONCE = 8;
/** A head that is replaced while its logs are read is asked for again this often. */
const REFRESH_ATTEMPTS = 3;

export interface ChainMarketOptions {
  readonly chain: Chain;
  readonly multicall3: Address;
  readonly reader: ChainReader;
  readonly clock: Clock;
  readonly observer: MarketObserver;
  /** Aborts every request. */
  readonly stopped: AbortSignal;
}

/**
 * One chain's pools in memory. Each operation carries the whole from one consistent state to the
 * next; they must not run at the same time.
 */
export class ChainMarket {
  readonly universe: TokenUniverse;
  readonly queue = new LoadQueue();
  #history: readonly ChainState[] = [];
  #snapshot: Snapshot | undefined;
  #confirmedAtMs = Number.NEGATIVE_INFINITY;
  readonly #reader: PinnedReader;
  readonly #loader: PoolLoader;

  constructor(private readonly options: ChainMarketOptions) {
    const { chain, reader, clock, multicall3, stopped } = options;
    const monotonic = () => clock.monotonic();
    this.universe = new TokenUniverse(chain);
    this.#reader = new PinnedReader(reader, monotonic, stopped);
    this.#loader = new PoolLoader(this.#reader, multicall3, monotonic);
  }

  /** The pools at the newest block that was seen; undefined before the first. */
  get snapshot(): Snapshot | undefined {
    return this.#snapshot;
  }

  /** When a node was last asked and had no newer block than the snapshot's; monotonic ms. */
  get confirmedAtMs(): number {
    return this.#confirmedAtMs;
  }

  /** How v3 pools are read. */
  get loadForm(): LoadForm {
    return this.#loader.form;
  }

  /** Carries the state to the chain's newest block. */
  async refresh(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#follow();
      } catch (error) {
        if (attempt === REFRESH_ATTEMPTS || !(error instanceof NodeAnswerError)) throw error;
      }
    }
  }

  /** Looks for pools of these pairs and queues the new ones. */
  async discover(pairs: readonly TokenPair[]): Promise<void> {
    const { chain, multicall3 } = this.options;
    const venues = chain.venues.filter(({ enabled }) => enabled);
    const { block } = this.#present();
    this.queue.admit(await discoverPools(this.#reader, { venues, pairs, multicall3, block }));
    this.#publish();
  }

  /**
   * Loads the next pools of the queue at the present block.
   * @param isFirst - names those that are wanted most
   * @returns false when none was due
   */
  async loadNext(isFirst: (pool: FoundPool) => boolean): Promise<boolean> {
    const { clock } = this.options;
    const due = this.queue.due(clock.monotonic(), LOADS_AT_ONCE, isFirst);
    if (due.length === 0) return false;
    const { block, pools } = this.#present();
    const loaded = await this.#load(due, block);
    this.#replacePools(new Map([...pools, ...loaded.map((pool) => [pool.address, pool] as const)]));
    return true;
  }

  /** Takes a pool that is known to be wrong out of use until it was loaded anew. */
  distrust(address: string, reason: string): void {
    if (!this.#history.at(-1)?.pools.has(address)) return;
    this.#fail(address, reason);
    this.#dropPools(new Set([address]));
  }

  /** Drops the pools of tokens that are no longer followed. */
  forget(tokens: readonly Address[]): void {
    const gone = new Set(tokens.flatMap((token) => this.queue.forget(token)));
    if (gone.size > 0 && this.#history.length > 0) this.#dropPools(gone);
  }

  #dropPools(gone: ReadonlySet<string>): void {
    this.#history = this.#history.map(({ block, pools }) => ({
      block,
      pools: new Map([...pools].filter(([address]) => !gone.has(address))),
    }));
    this.#publish();
  }

  async #follow(): Promise<void> {
    const { chain, clock, observer } = this.options;
    const askedAtMs = clock.monotonic();
    const head = await this.#reader.head();
    if (this.#history.length === 0) {
      this.#become([], { block: head, pools: new Map() });
    } else {
      const outcome = await advance(this.#reader, this.#history, head);
      if (outcome.kind === "reset") {
        observer.reset?.({ chainId: chain.id, reason: outcome.reason });
        this.#become([], { block: head, pools: new Map() });
      } else if (outcome.kind === "moved") {
        const { undoneBlocks, logs, broken } = outcome;
        if (undoneBlocks > 0) observer.reorg?.({ chainId: chain.id, undoneBlocks });
        for (const { address, rule } of broken) this.#fail(address, rule);
        this.#become(outcome.history, outcome.state);
        observer.block?.({
          chainId: chain.id,
          blockNumber: head.number,
          logs,
          ageMs: clock.now() - head.timestampMs,
          durationMs: clock.monotonic() - askedAtMs,
        });
      }
    }
    this.#confirmedAtMs = askedAtMs;
  }

  async #load(due: readonly FoundPool[], block: BlockRef): Promise<MarketPool[]> {
    const pairs = due.filter((pool): pool is FoundV2 => pool.kind === "v2");
    const others = due.filter((pool): pool is FoundV3 => pool.kind === "v3");
    const reads = [
      ...others.map(async (pool) => [await this.#loader.loadPool(pool, block)]),
      pairs.length > 0 ? this.#loader.loadPairs(pairs, block) : Promise.resolve([]),
    ];
    const settled = await Promise.allSettled<MarketPool[]>(reads);
    const read = settled.flatMap((outcome) =>
      outcome.status === "fulfilled" ? outcome.value : [],
    );
    const reason = settled.find((outcome) => outcome.status === "rejected")?.reason;
    const sound: MarketPool[] = [];
    for (const { address } of due) {
      const pool = read.find((candidate) => candidate.address === address);
      const rule = pool ? violationOf(pool) : String(reason ?? "no answer");
      if (!pool || rule !== undefined) {
        this.#fail(address, rule ?? "no answer");
        continue;
      }
      this.queue.loaded(address);
      this.options.observer.pool?.({
        chainId: this.options.chain.id,
        pool: address,
        state: "loaded",
      });
      sound.push(pool);
    }
    return sound;
  }

  #fail(address: string, reason: string): void {
    const { chain, clock, observer } = this.options;
    this.queue.failed(address, clock.monotonic());
    observer.pool?.({ chainId: chain.id, pool: address, state: "failed", reason });
  }

  #become(ancestors: readonly ChainState[], state: ChainState): void {
    this.#history = [...ancestors, state].slice(-HISTORY_STATES);
    // Pools loaded at a block that was undone are not in the older state.
    this.queue.requeue((address) => state.pools.has(address));
    this.#publish();
  }

  #replacePools(pools: ReadonlyMap<string, MarketPool>): void {
    const { block } = this.#present();
    this.#history = [...this.#history.slice(0, -1), { block, pools }];
    this.#publish();
  }

  #publish(): void {
    const { block, pools } = this.#present();
    const { id } = this.options.chain;
    this.#snapshot = createSnapshot(id, block, pools.values(), !this.queue.hasUntried);
  }

  #present(): ChainState {
    const present = this.#history.at(-1);
    if (!present) throw new Error("no block was seen yet");
    return present;
  }
}

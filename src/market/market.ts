import type { Chain, ChainRegistry } from "../chains/index.ts";
import type { Clock } from "../lib/clock.ts";
import { checksummed } from "./candidates.ts";
import { ChainMarket } from "./chainMarket.ts";
import { Follower, MarketUnavailableError, type SnapshotRequest } from "./follower.ts";
import type { LoadForm } from "./load.ts";
import type { MarketObserver } from "./observer.ts";
import type { Snapshot } from "./pool.ts";
import type { ChainReader } from "./reader.ts";

/** Oldest state that is given out by default, ms; three blocks where that is longer. */
const DEFAULT_MAX_AGE_MS = 10_000;
const MAX_AGE_BLOCKS = 3;

export interface MarketDependencies {
  readonly registry: Pick<ChainRegistry, "byId">;
  /** The way to a chain's nodes; asked for once per chain. */
  readonly reader: (chainId: number) => ChainReader;
  readonly clock: Clock;
  /** The highest block anybody heard of; one above the state's is looked for at once. */
  readonly seenHead?: (chainId: number) => number | undefined;
  readonly observer?: MarketObserver;
  /** Oldest state to give out, ms; three blocks where that is longer. */
  readonly maxAgeMs?: number;
}

/** One chain's part of the market, for metrics. */
export interface MarketStatus {
  readonly chainId: number;
  readonly isFollowing: boolean;
  readonly blockNumber: bigint | undefined;
  /** Time since a node was last asked and had nothing newer, ms. */
  readonly ageMs: number;
  /** Pools known to exist, those in quotes, and those waiting to be loaded. */
  readonly known: number;
  readonly quotable: number;
  readonly waiting: number;
  /** How v3 pools are read. */
  readonly loadForm: LoadForm;
}

/** The pools of every EVM network, in memory, each chain at one block. */
export interface Market {
  /**
   * All quotable pools of a chain at its newest block, from memory while that is young enough.
   * The first request of a chain begins to follow it and waits for its first pools.
   * @throws MarketUnavailableError when the chain cannot be read, or not in time
   */
  snapshot(chainId: number, request?: SnapshotRequest): Promise<Snapshot>;
  /**
   * Has a pool that was found to be wrong loaded anew. It is in no snapshot given from then until it
   * was; distrusted again and again, it stays out for longer and longer.
   */
  distrust(chainId: number, pool: string, reason: string): Promise<void>;
  /**
   * Reads a chain's registry entry anew. The pools of its venues are loaded beside those in use,
   * then take their place. Does nothing for a chain nobody asked for yet.
   */
  renew(chainId: number): Promise<void>;
  status(): readonly MarketStatus[];
  /** Stops following all chains; nothing is asked of any node after it resolves. */
  stop(): Promise<void>;
}

/** The market over all chains of the registry. Asks no node until a chain is first used. */
export function createMarket(dependencies: MarketDependencies): Market {
  const stopping = new AbortController();
  const chains = new Map<number, { readonly market: ChainMarket; readonly follower: Follower }>();
  const entryOf = (chainId: number) => {
    const known = chains.get(chainId);
    if (known) return known;
    const entry = createEntry(dependencies, chainOf(dependencies, chainId), stopping.signal);
    chains.set(chainId, entry);
    return entry;
  };
  return {
    snapshot: async (chainId, request) => entryOf(chainId).follower.snapshot(request),
    distrust: async (chainId, pool, reason) => chains.get(chainId)?.follower.distrust(pool, reason),
    async renew(chainId) {
      const before = chains.get(chainId);
      if (!before || stopping.signal.aborted) return;
      const entry = createEntry(dependencies, chainOf(dependencies, chainId), stopping.signal);
      // A chain that cannot be read now is read when it can; the old pools may be of no venue.
      await entry.follower.snapshot().catch(() => undefined);
      chains.set(chainId, entry);
      await before.follower.stop();
    },
    status: () =>
      [...chains].map(([chainId, { market, follower }]) => ({
        chainId,
        isFollowing: follower.isFollowing,
        blockNumber: market.snapshot?.blockNumber,
        ageMs: follower.ageMs,
        known: market.queue.known,
        quotable: market.snapshot?.pools.length ?? 0,
        waiting: market.queue.waiting,
        loadForm: market.loadForm,
      })),
    async stop() {
      stopping.abort();
      await Promise.all([...chains.values()].map(({ follower }) => follower.stop()));
    },
  };
}

function createEntry(
  { reader, clock, seenHead, observer = {}, maxAgeMs = DEFAULT_MAX_AGE_MS }: MarketDependencies,
  chain: EvmChain,
  stopped: AbortSignal,
) {
  const { id: chainId, blockTimeMs } = chain;
  const multicall3 = checksummed(chain.multicall3);
  const market = new ChainMarket({
    chain,
    multicall3,
    reader: reader(chainId),
    clock,
    observer,
    stopped,
  });
  const follower = new Follower({
    chainId,
    blockTimeMs,
    market,
    clock,
    observer,
    seenHead: () => seenHead?.(chainId),
    maxAgeMs: Math.max(maxAgeMs, MAX_AGE_BLOCKS * blockTimeMs),
  });
  return { market, follower };
}

type EvmChain = Chain & { readonly multicall3: string };

/** @throws MarketUnavailableError for a chain whose pools cannot be read */
function chainOf({ registry }: MarketDependencies, chainId: number): EvmChain {
  const chain = registry.byId(chainId);
  if (chain?.kind !== "evm" || chain.multicall3 === undefined) {
    throw new MarketUnavailableError(`chain ${chainId} is no EVM network with Multicall3`);
  }
  return { ...chain, multicall3: chain.multicall3 };
}

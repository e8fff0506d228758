import type { ChainRegistry } from "../../chains/index.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { type UpstreamPool, UpstreamUnavailableError } from "../types.ts";
import { type BlockFollower, ChainFollower } from "./follower.ts";
import { createLogFeed, type LogFeed } from "./logFeed.ts";
import { createBlockReader } from "./reader.ts";

export type { Block } from "./block.ts";
export type { BlockEvent, BlockFollower, BlockListener } from "./follower.ts";
export type { LogFeed, LogListener } from "./logFeed.ts";
export { type LogFilter, LogFilterError, parseLogFilter } from "./logFilter.ts";

/** What is followed of one chain; everybody who follows it shares the same. */
export interface ChainFeeds {
  readonly blocks: BlockFollower;
  readonly logs: LogFeed;
}

/** The followers of all chains. */
export interface Feeds {
  /** @throws UpstreamUnavailableError when the chain is not an EVM chain of the registry */
  of(chainId: number): ChainFeeds;
  /** Ends all following. */
  close(): void;
}

export interface FeedsOptions {
  readonly pool: Pick<UpstreamPool, "call" | "head">;
  readonly registry: ChainRegistry;
  readonly clock?: Clock;
  /** Following goes on this long without listeners, 30,000 ms by default. */
  readonly graceMs?: number;
}

const DEFAULT_GRACE_MS = 30_000;

/** Makes the followers of all chains; none runs before its first listener. */
export function createFeeds(options: FeedsOptions): Feeds {
  const { pool, registry, clock = systemClock, graceMs = DEFAULT_GRACE_MS } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const chains = new Map<number, ChainFeeds>();

  const open = (chainId: number): ChainFeeds => {
    const chain = registry.byId(chainId);
    if (chain?.kind !== "evm") throw new UpstreamUnavailableError(`chain ${chainId} has no blocks`);
    const reader = createBlockReader(pool, chainId, signal);
    const { blockTimeMs } = chain;
    const seenHead = () => pool.head(chainId);
    const follower = new ChainFollower({ reader, seenHead, blockTimeMs, clock, signal, graceMs });
    return { blocks: follower, logs: createLogFeed({ follower, reader, clock, signal }) };
  };

  return {
    of(chainId) {
      const feeds = chains.get(chainId) ?? open(chainId);
      chains.set(chainId, feeds);
      return feeds;
    },
    close: () => closing.abort(),
  };
}

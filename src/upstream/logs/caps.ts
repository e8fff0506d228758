import { LRUCache } from "lru-cache";
import type { LogCap, LogCapStore } from "../../db/index.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Refusal } from "./refusal.ts";

/** What was learnt is tried anew after this long: vendors and plans change. */
const FORGET_AFTER_MS = 7 * 24 * 3_600_000;
/** Filters whose density is remembered per chain. */
const MAX_FILTERS = 4_096;
/** Refused ranges remembered per filter. */
const MAX_REFUSED = 64;
/** Part of a result limit that a planned piece is to fill, as logs are not spread evenly. */
const FILL = 0.7;
/** The limit most vendors choose, in blocks: what is tried once a limit was met. */
export const USUAL_LIMIT = 10_000;
/** Smaller limits vendors choose; where one refuses without naming it, the next lower is tried. */
const lowerLimits = [5_000, 2_000, 1_000, 500, 200, 100, 50, 10, 5, 1];

/** What is known of one upstream's limits. */
interface Limits {
  /** Most blocks it takes at once; infinite while it never refused. */
  maxBlocks: number;
  /** It refused without naming its limit, and has taken nothing of this size since. */
  isGuess: boolean;
  /** Most logs it returns at once, where it named the number. */
  maxResults: number;
  /** Largest range it has answered. */
  accepted: number;
}

/** What an upstream is known to take of a range, in blocks. */
export interface Known {
  /** Infinite while nothing speaks against any size, 0 when a single block is too much. */
  readonly most: number;
  /** What it has taken, or said to take. */
  readonly proven: number;
  /** It refused without naming its limit, and `proven` is only likely. */
  readonly isGuess: boolean;
}

/** A range of blocks, both ends included. */
export interface BlockRange {
  readonly from: number;
  readonly to: number;
}

/** What is known of one filter: how dense its logs are, and which ranges hold too many. */
interface Density {
  /** Highest number of logs per block in any answer. */
  logsPerBlock: number;
  readonly refused: (BlockRange & { readonly upstream: string })[];
}

const nothingKnown: Density = { logsPerBlock: 0, refused: [] };

/** Number of blocks of a range. */
export function sizeOf({ from, to }: BlockRange): number {
  return to - from + 1;
}

export interface LogCapsOptions {
  readonly chainId: number;
  /** Where limits outlive the process. */
  readonly store: LogCapStore | undefined;
  readonly clock: Clock;
}

/**
 * What the upstreams of a chain have shown they take in one `eth_getLogs`: learnt from the texts of
 * refusals, from refusals without a number by trying less, and from what they answered.
 */
export class LogCaps {
  readonly #limits = new Map<string, Limits>();
  readonly #filters = new LRUCache<string, Density>({ max: MAX_FILTERS });
  #loaded: Promise<void> | undefined;

  constructor(private readonly options: LogCapsOptions) {}

  /** Reads what earlier processes learnt; once. A database that fails costs only the memory. */
  load(): Promise<void> {
    this.#loaded ??= this.#read().catch(() => {});
    return this.#loaded;
  }

  /** What an upstream is known to take of a range of this filter. */
  known(upstream: string, filter: string, range: BlockRange): Known {
    const { maxBlocks, isGuess, maxResults, accepted } = this.#of(upstream);
    const { logsPerBlock, refused } = this.#filters.get(filter) ?? nothingKnown;
    const byDensity = logsPerBlock === 0 ? Number.POSITIVE_INFINITY : maxResults / logsPerBlock;
    // A range that holds one which was refused for its results would be refused as well.
    const holdsTooMuch = refused.some(
      (one) => one.upstream === upstream && range.from <= one.from && range.to >= one.to,
    );
    const most = Math.min(
      maxBlocks,
      Math.max(1, Math.floor(FILL * byDensity)),
      holdsTooMuch ? Math.floor(sizeOf(range) / 2) : Number.POSITIVE_INFINITY,
    );
    const named = maxBlocks === Number.POSITIVE_INFINITY ? 0 : maxBlocks;
    return { most, proven: Math.min(most, Math.max(accepted, named)), isGuess };
  }

  /** Notes that a range was answered. */
  took(upstream: string, blocks: number): void {
    const limits = this.#of(upstream);
    if (blocks >= limits.maxBlocks) limits.isGuess = false;
    if (blocks <= limits.accepted) return;
    limits.accepted = blocks;
    void this.#save(upstream, limits);
  }

  /** Notes the answer to a piece. @param logs - how many it holds */
  accepted(upstream: string, filter: string, range: BlockRange, logs: number): void {
    const blocks = sizeOf(range);
    this.took(upstream, blocks);
    const density = this.#density(filter);
    density.logsPerBlock = Math.max(density.logsPerBlock, logs / blocks);
  }

  /** Notes a refusal. */
  refused(upstream: string, filter: string, range: BlockRange, refusal: Refusal): void {
    const limits = this.#of(upstream);
    if (refusal.kind === "range") {
      limits.maxBlocks = refusal.maxBlocks ?? nextLower(sizeOf(range));
      limits.isGuess = refusal.maxBlocks === undefined;
      limits.accepted = Math.min(limits.accepted, limits.maxBlocks);
    } else {
      const { refused } = this.#density(filter);
      refused.push({ ...range, upstream });
      if (refused.length > MAX_REFUSED) refused.shift();
      if (refusal.maxResults === undefined) return;
      limits.maxResults = refusal.maxResults;
    }
    void this.#save(upstream, limits);
  }

  #of(upstream: string): Limits {
    const known = this.#limits.get(upstream);
    if (known) return known;
    const limits = {
      maxBlocks: Number.POSITIVE_INFINITY,
      isGuess: false,
      maxResults: Number.POSITIVE_INFINITY,
      accepted: 0,
    };
    this.#limits.set(upstream, limits);
    return limits;
  }

  #density(filter: string): Density {
    const known = this.#filters.get(filter);
    if (known) return known;
    const density: Density = { logsPerBlock: 0, refused: [] };
    this.#filters.set(filter, density);
    return density;
  }

  async #read(): Promise<void> {
    const { store, chainId, clock } = this.options;
    const rows = (await store?.list(chainId)) ?? [];
    const oldest = clock.now() - FORGET_AFTER_MS;
    for (const { upstream, maxBlocks, maxResults, acceptedBlocks, learnedAt } of rows) {
      if (learnedAt < oldest) continue;
      const limits = this.#of(upstream);
      limits.accepted = acceptedBlocks ?? 0;
      limits.maxBlocks = maxBlocks ?? Number.POSITIVE_INFINITY;
      limits.maxResults = maxResults ?? Number.POSITIVE_INFINITY;
    }
  }

  async #save(upstream: string, { maxBlocks, maxResults, accepted }: Limits): Promise<void> {
    const { store, chainId, clock } = this.options;
    const row: LogCap = {
      chainId,
      upstream,
      maxBlocks: finite(maxBlocks),
      maxResults: finite(maxResults),
      acceptedBlocks: accepted || null,
      learnedAt: clock.now(),
    };
    try {
      await store?.save(row);
    } catch {
      // It is learnt again after a restart.
    }
  }
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

function nextLower(blocks: number): number {
  return [USUAL_LIMIT, ...lowerLimits].find((limit) => limit < blocks) ?? 0;
}

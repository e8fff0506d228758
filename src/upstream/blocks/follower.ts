import type { Clock } from "../../lib/clock.ts";
import { UpstreamUnavailableError } from "../types.ts";
import type { Block } from "./block.ts";
import { Branch } from "./branch.ts";
import type { BlockReader } from "./reader.ts";

/** A new block of the chain. Every block follows its parent: nothing is left out or repeated. */
export interface BlockEvent {
  readonly block: Block;
  /** Blocks this one replaces, newest first; none unless the chain was reorganised. */
  readonly removed: readonly Block[];
}

/** Takes a block; the next one waits until the returned promise settles. Must not reject. */
export type BlockListener = (event: BlockEvent) => void | Promise<void>;

/** Follows the blocks of one chain. */
export interface BlockFollower {
  /**
   * Tells of every block after the present head, which is known when this resolves.
   * @returns ends it
   * @throws UpstreamUnavailableError when the chain's head cannot be read
   */
  follow(listener: BlockListener): Promise<() => void>;
  /**
   * Resolves when listeners have been told of every block up to the present head. Only for those
   * who follow already.
   * @throws UpstreamUnavailableError when the chain's head cannot be read
   */
  catchUp(): Promise<void>;
}

export interface FollowerOptions {
  readonly reader: BlockReader;
  /** Highest block any upstream has shown. */
  readonly seenHead: () => number | undefined;
  readonly blockTimeMs: number;
  readonly clock: Clock;
  /** Ends everything. */
  readonly signal: AbortSignal;
  /** Following goes on this long without listeners. */
  readonly graceMs: number;
}

/** The head is asked for four times per block, within these bounds. */
const POLLS_PER_BLOCK = 4;
const MIN_POLL_MS = 100;
const MAX_POLL_MS = 1_000;
/** Blocks of a gap that are read at once. */
const FILL_WIDTH = 16;
/** Sightings in a row after which a branch that is not longer than ours replaces it. */
const RIVAL_SIGHTINGS = 3;
/** The same for a head below everything we remember, which most likely is a node far behind, ms. */
const DEEP_RIVAL_MS = 30_000;

interface Rival {
  sightings: number;
  readonly sinceMs: number;
}

/** The one follower of a chain; runs while it has listeners. */
export class ChainFollower implements BlockFollower {
  readonly #listeners = new Set<BlockListener>();
  #starting: Promise<void> | undefined;
  #rival: Rival | undefined;
  #idleSinceMs: number | undefined;
  /** Callers who wait for a round that begins after their call. */
  #newcomers: PromiseWithResolvers<void> | undefined;
  #nap = new AbortController();

  constructor(private readonly options: FollowerOptions) {
    options.signal.addEventListener("abort", () => this.#nap.abort(), { once: true });
  }

  async follow(listener: BlockListener): Promise<() => void> {
    this.#idleSinceMs = undefined;
    // A listener of its own per call, so that one function may follow twice.
    const entry: BlockListener = (event) => listener(event);
    if (this.#starting) await this.catchUp();
    else await (this.#starting = this.#start());
    this.#idleSinceMs = undefined;
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
      if (this.#listeners.size === 0) this.#idleSinceMs = this.options.clock.monotonic();
    };
  }

  async catchUp(): Promise<void> {
    await this.#starting;
    this.#newcomers ??= Promise.withResolvers();
    this.#nap.abort();
    await this.#newcomers.promise;
  }

  async #start(): Promise<void> {
    let branch: Branch;
    try {
      const first = await this.options.reader.latest();
      if (!first) throw new UpstreamUnavailableError("the latest block cannot be read");
      branch = new Branch(first);
    } catch (error) {
      this.#starting = undefined;
      throw error;
    }
    this.#idleSinceMs = this.options.clock.monotonic();
    void this.#run(branch);
  }

  async #run(branch: Branch): Promise<void> {
    const { clock, blockTimeMs, signal, graceMs } = this.options;
    const pollMs = Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, blockTimeMs / POLLS_PER_BLOCK));
    const isWanted = () =>
      this.#idleSinceMs === undefined || clock.monotonic() - this.#idleSinceMs < graceMs;
    while (!signal.aborted && isWanted()) {
      this.#nap = new AbortController();
      const newcomers = this.#newcomers;
      this.#newcomers = undefined;
      // What could not be read now is read in the next round.
      await this.#round(branch).then(newcomers?.resolve, newcomers?.reject ?? (() => {}));
      if (!signal.aborted) await clock.sleep(pollMs, this.#nap.signal).catch(() => {});
    }
    this.#newcomers?.reject(new UpstreamUnavailableError("the follower was closed"));
    this.#newcomers = undefined;
    this.#starting = undefined;
    this.#rival = undefined;
  }

  /** Looks at the chain once and follows it to where it is. */
  async #round(branch: Branch): Promise<void> {
    const latest = await this.options.reader.latest();
    if (latest?.hash === branch.head.hash) this.#rival = undefined;
    if (latest && !branch.has(latest.hash)) {
      await this.#fill(branch, latest.number - 1);
      const above = latest.number - branch.head.number;
      if (above === 1) await this.#attach(branch, latest);
      else if (above <= 0 && !branch.has(latest.hash)) await this.#weigh(branch, latest);
    }
    // Another node may be ahead of the one that answered.
    await this.#fill(branch, this.options.seenHead() ?? 0);
  }

  /** Follows by number up to a height, or as far as blocks are to be had. */
  async #fill(branch: Branch, to: number): Promise<void> {
    while (branch.head.number < to) {
      const from = branch.head.number + 1;
      const width = Math.min(FILL_WIDTH, to - from + 1);
      // One that fails ends the round, but not what comes before it.
      const reads = Array.from({ length: width }, (_, index) =>
        this.options.reader.byNumber(from + index).catch(() => undefined),
      );
      for (const read of reads) {
        const block = await read;
        if (!block || block.number !== branch.head.number + 1) return;
        if (!(await this.#attach(branch, block))) return;
      }
    }
  }

  /**
   * Follows to a block above the head, over to another branch where it belongs to one.
   * @returns false when its ancestors are not to be had
   */
  async #attach(branch: Branch, block: Block): Promise<boolean> {
    if (block.parentHash !== branch.head.hash) return this.#switch(branch, block);
    branch.append(block);
    this.#rival = undefined;
    await this.#emit({ block, removed: [] });
    return true;
  }

  /**
   * Decides on a block beside our branch that is not above its head. Nodes disagree for a moment
   * around every fork, so the branch that is longer is followed, and one that is not longer only
   * when nothing else is seen any more.
   */
  async #weigh(branch: Branch, block: Block): Promise<void> {
    const { clock, reader } = this.options;
    this.#rival ??= { sightings: 0, sinceMs: clock.monotonic() };
    this.#rival.sightings++;
    const isDeep = block.number < branch.tail.number;
    if (isDeep && clock.monotonic() - this.#rival.sinceMs < DEEP_RIVAL_MS) return;
    if (this.#rival.sightings < RIVAL_SIGHTINGS) return;
    const ours = await reader.byNumber(branch.head.number);
    if (ours?.hash === branch.head.hash) this.#rival = undefined;
    else await this.#switch(branch, block);
  }

  async #switch(branch: Branch, tip: Block): Promise<boolean> {
    const blocks: [Block, ...Block[]] = [tip];
    while (!branch.has(blocks[0].parentHash) && blocks[0].number > branch.tail.number) {
      const parent = await this.options.reader.byHash(blocks[0].parentHash);
      if (!parent) return false;
      blocks.unshift(parent);
    }
    const removed = branch.fork(blocks);
    this.#rival = undefined;
    for (const block of blocks) await this.#emit({ block, removed: removed.splice(0) });
    return true;
  }

  async #emit(event: BlockEvent): Promise<void> {
    await Promise.all(Array.from(this.#listeners, (listener) => listener(event)));
  }
}

import type { Clock } from "../../lib/clock.ts";
import type { Block } from "./block.ts";
import { readBlockLogs } from "./blockLogs.ts";
import type { BlockEvent, BlockFollower } from "./follower.ts";
import { type Log, removedJson } from "./log.ts";
import { type LogFilter, matchesFilter } from "./logFilter.ts";
import type { BlockReader } from "./reader.ts";

/** Takes one log as JSON text, ready to be sent. */
export type LogListener = (json: string) => void;

/**
 * The logs of one chain for any number of filters: one query per block for all of them. Every log
 * comes once, in the order of the chain. When a block is removed, what was told of it is told again
 * with `removed: true`, last first.
 */
export interface LogFeed {
  /**
   * Tells of matching logs in blocks after the present head, which is known when this resolves.
   * @returns ends it
   * @throws UpstreamUnavailableError when the chain's head cannot be read
   */
  subscribe(filter: LogFilter, listener: LogListener): Promise<() => void>;
}

export interface LogFeedOptions {
  readonly follower: BlockFollower;
  readonly reader: BlockReader;
  readonly clock: Clock;
  /** Ends everything. */
  readonly signal: AbortSignal;
}

/** Blocks whose logs are read at once; beyond it the follower waits. */
const MAX_READS = 8;
/** Told blocks and logs remembered for the case that they are removed. */
const MAX_TOLD_BLOCKS = 256;
const MAX_TOLD_LOGS = 50_000;

interface Stream {
  readonly filter: LogFilter;
  /** Listeners with the number of the first block event they are told of. */
  readonly listeners: Map<LogListener, number>;
}

interface Job {
  readonly event: BlockEvent;
  readonly sequence: number;
  readonly cancel: AbortController;
  /** undefined until read; the block was removed before it could be when null. */
  logs: readonly Log[] | null | undefined;
}

interface Told {
  readonly sequence: number;
  readonly logs: readonly Log[];
}

/** Makes the log feed of a chain; it follows blocks while it has subscribers. */
export function createLogFeed(options: LogFeedOptions): LogFeed {
  return new ChainLogFeed(options);
}

class ChainLogFeed implements LogFeed {
  readonly #streams = new Map<string, Stream>();
  /** In the order of the chain. */
  readonly #jobs: Job[] = [];
  /** By block hash, oldest first. */
  readonly #told = new Map<string, Told>();
  #toldLogs = 0;
  #nextSequence = 0;
  /** Subscriptions, and those that wait for the follower to start. */
  #users = 0;
  #following: Promise<() => void> | undefined;
  #roomFor: (() => void) | undefined;

  constructor(private readonly options: LogFeedOptions) {
    options.signal.addEventListener("abort", () => this.#cancelJobs(), { once: true });
  }

  async subscribe(filter: LogFilter, listener: LogListener): Promise<() => void> {
    this.#users++;
    try {
      await this.#reachHead();
    } catch (error) {
      this.#release();
      throw error;
    }
    const entry: LogListener = (json) => listener(json);
    const stream = this.#streams.get(filter.key) ?? { filter, listeners: new Map() };
    this.#streams.set(filter.key, stream);
    stream.listeners.set(entry, this.#nextSequence);
    return () => this.#leave(stream, entry);
  }

  /** Resolves when the present head is behind what the next block event will tell of. */
  async #reachHead(): Promise<void> {
    if (this.#following) {
      await this.#following;
      return this.options.follower.catchUp();
    }
    const following = this.options.follower.follow((event) => this.#onBlock(event));
    this.#following = following;
    try {
      await following;
    } catch (error) {
      if (this.#following === following) this.#following = undefined;
      throw error;
    }
  }

  #leave(stream: Stream, entry: LogListener): void {
    if (!stream.listeners.delete(entry)) return;
    if (stream.listeners.size === 0) this.#streams.delete(stream.filter.key);
    this.#release();
  }

  /** Ends following with the last user. */
  #release(): void {
    if (--this.#users > 0) return;
    this.#following?.then(
      (unfollow) => unfollow(),
      () => {},
    );
    this.#following = undefined;
    this.#cancelJobs();
    this.#told.clear();
    this.#toldLogs = 0;
  }

  #cancelJobs(): void {
    for (const { cancel } of this.#jobs.splice(0)) cancel.abort();
    this.#roomFor?.();
  }

  #onBlock(event: BlockEvent): void | Promise<void> {
    const removed = new Set(event.removed.map(({ hash }) => hash));
    for (const waiting of this.#jobs) {
      // Its logs may be nowhere to be read any more.
      if (removed.has(waiting.event.block.hash)) waiting.cancel.abort();
    }
    const job: Job = {
      event,
      sequence: this.#nextSequence++,
      cancel: new AbortController(),
      logs: undefined,
    };
    this.#jobs.push(job);
    void this.#read(job);
    if (this.#jobs.length < MAX_READS) return;
    const room = Promise.withResolvers<void>();
    this.#roomFor = room.resolve;
    return room.promise;
  }

  async #read(job: Job): Promise<void> {
    const { reader, clock } = this.options;
    const filters = Array.from(this.#streams.values(), ({ filter }) => filter);
    const { signal } = job.cancel;
    job.logs =
      (filters.length === 0
        ? []
        : await readBlockLogs(reader, clock, job.event.block, filters, signal)) ?? null;
    this.#deliver();
  }

  /** Tells, in order, of the blocks that are read. */
  #deliver(): void {
    for (;;) {
      const [job] = this.#jobs;
      if (!job || job.logs === undefined) break;
      this.#jobs.shift();
      for (const block of job.event.removed) this.#tellRemoved(block);
      if (job.logs) this.#tell(job.event.block, { sequence: job.sequence, logs: job.logs });
    }
    if (this.#jobs.length < MAX_READS) this.#roomFor?.();
  }

  #tell({ hash }: Block, told: Told): void {
    for (const log of told.logs) this.#toListeners(log, told.sequence, () => log.json);
    this.#told.set(hash, told);
    this.#toldLogs += told.logs.length;
    for (const [oldest, { logs }] of this.#told) {
      if (this.#told.size <= MAX_TOLD_BLOCKS && this.#toldLogs <= MAX_TOLD_LOGS) break;
      this.#told.delete(oldest);
      this.#toldLogs -= logs.length;
    }
  }

  #tellRemoved({ hash }: Block): void {
    const told = this.#told.get(hash);
    if (!told) return;
    this.#told.delete(hash);
    this.#toldLogs -= told.logs.length;
    for (const log of told.logs.toReversed()) {
      let json: string | undefined;
      this.#toListeners(log, told.sequence, () => (json ??= removedJson(log)));
    }
  }

  #toListeners(log: Log, sequence: number, json: () => string): void {
    for (const { filter, listeners } of this.#streams.values()) {
      if (!matchesFilter(filter, log)) continue;
      for (const [listener, since] of listeners) if (sequence >= since) listener(json());
    }
  }
}

import type { Awaitable } from "../../db/index.ts";
import type { Clock } from "../../lib/clock.ts";
import type { ChainPool } from "../chainPool.ts";
import { dispatchRead, type NodeReply } from "../dispatch.ts";
import type { UpstreamObserver } from "../observer.ts";
import type { CallOptions, RpcCall, RpcReply } from "../types.ts";
import { protocolOf } from "../protocol.ts";
import { namedBlock, neededHead, readRules, type View } from "./belief.ts";
import { type ReadCall, readCall, readParams } from "./blockRefs.ts";
import type { AnswerCache, KeptAnswer } from "./cache.ts";
import { Callers } from "./callers.ts";
import { canonicalKey } from "./canonical.ts";
import { Finality, type FinalityRule } from "./finality.ts";
import { localResult } from "./localReply.ts";
import { isShareable } from "./methods.ts";
import { highestBlock, isEmptyResult, seenBlock } from "./observed.ts";
import { Flights, type Shared } from "./sharing.ts";

/** Longest wait for the upstreams' heads when a call names a block above them, ms. */
const LOOK_AHEAD_MS = 500;
/** Time allowed for asking what is final, ms. */
const FINALITY_DEADLINE_MS = 5_000;

/** Sends an `eth_getLogs` over a range, in as many pieces as nodes ask for. */
export type RangeReader = (read: ReadCall, view: View, options: CallOptions) => Promise<NodeReply>;

/** A reply, and the highest block it shows. */
interface Shown {
  readonly reply: NodeReply;
  readonly block: number | undefined;
}

export interface ChainReaderOptions {
  readonly pool: ChainPool;
  readonly chain: {
    readonly id: number;
    readonly blockTimeMs: number;
    readonly finality?: FinalityRule;
  };
  readonly cache: AnswerCache;
  readonly clock: Clock;
  readonly observer: UpstreamObserver;
  readonly readRange: RangeReader;
}

/**
 * Reads of one EVM chain as its callers are to see it: never behind what a caller has seen, made
 * once where several ask the same at once, and kept where the answer cannot change.
 */
export class ChainReader {
  readonly #callers = new Callers();
  readonly #flights = new Flights<Shown>(() => this.#callers.tick());
  readonly #finality: Finality;
  /** Grows with each reorganisation; answers asked for before one are not kept after it. */
  #generation = 0;

  constructor(private readonly options: ChainReaderOptions) {
    const { chain, clock, pool } = options;
    this.#finality = new Finality({
      rule: chain.finality,
      blockTimeMs: chain.blockTimeMs,
      clock,
      head: () => pool.head,
      ask: (block) => this.#askBlock(block),
      onReorg: (lastKept) => this.#forget(lastKept),
    });
  }

  /**
   * Runs a caller's broadcast, so that what the caller reads after it began, and after it ended, is
   * not shared with reads from before.
   */
  async aroundBroadcast(
    call: RpcCall,
    caller: string | undefined,
    run: () => Promise<RpcReply>,
  ): Promise<RpcReply> {
    const hash = protocolOf("evm").transactionId(readParams(call) ?? []);
    this.#callers.sent(caller, hash);
    try {
      return await run();
    } finally {
      this.#callers.sent(caller, hash);
    }
  }

  /** The chain itself went back to `head`. */
  rollBack(head: number): void {
    this.#callers.rollBack(head);
    this.#finality.rollBack(head);
    this.#forget(head);
  }

  /**
   * Answers a read.
   * @throws UpstreamUnavailableError, or the signal's reason when the caller aborted
   */
  async read(call: RpcCall, options: CallOptions): Promise<RpcReply> {
    const read = readCall(call);
    const key = isShareable(call.method) ? canonicalKey(read) : "";
    const known = this.#answerHere(read) ?? this.#answerKept(read, key, options.caller);
    const reply = known ?? (await this.#ask(read, key, options));
    const { chain, observer } = this.options;
    const isKnown = read.method !== undefined && read.refs.kind !== "unknown";
    observer.read?.({ chainId: chain.id, source: reply.source, isKnown });
    return reply;
  }

  /** What the service knows once it has found a node that serves the chain. */
  #answerHere({ call: { method } }: ReadCall): RpcReply | undefined {
    if (method === "net_listening") return localResult(true);
    if (method !== "eth_chainId") return undefined;
    const { pool, chain } = this.options;
    if (!pool.upstreams.some(({ identity }) => identity === "right")) return undefined;
    pool.touch();
    return localResult(`0x${chain.id.toString(16)}`);
  }

  /** What was kept because it cannot change. */
  #answerKept(read: ReadCall, key: string, caller: string | undefined): RpcReply | undefined {
    if (key === "" || !mayBeKept(read)) return undefined;
    const kept = this.options.cache.get(this.options.chain.id, key);
    if (kept?.block !== undefined) this.#callers.saw(caller, kept.block);
    return kept && keptReply(kept);
  }

  /** @param key - equal for calls that ask the same; empty for one that is not shared */
  async #ask(read: ReadCall, key: string, options: CallOptions): Promise<RpcReply> {
    const { caller } = options;
    if (key === "") return this.#askAlone(read, options);
    if (this.#isAhead(read)) await this.options.pool.refreshHeads(LOOK_AHEAD_MS);
    const { reply: shown, joined } = await this.#share(read, key, options);
    this.#note(read, shown, caller);
    const ordered = this.#inOrder(read, shown, options);
    const reply = ordered instanceof Promise ? await ordered : ordered;
    if (!joined) return reply;
    return { ...reply, source: "shared", attempts: 0, hedged: false, retried: false };
  }

  async #askAlone(read: ReadCall, options: CallOptions): Promise<RpcReply> {
    return (await this.#send(read, this.#view(read, options.caller), options, "")).reply;
  }

  /**
   * Answers of one caller's concurrent calls may overtake each other; a block that arrives after a
   * higher one is asked for again.
   */
  #inOrder(read: ReadCall, shown: Shown, options: CallOptions): Awaitable<RpcReply> {
    const { call, refs } = read;
    if (call.method === "eth_blockNumber") return this.#tellHead(shown, options.caller);
    if (shown.block === undefined || refs.kind !== "block" || refs.ref.kind !== "tip") {
      return shown.reply;
    }
    const seen = this.#callers.highest(options.caller);
    const isOvertaken = seen !== undefined && shown.block < seen;
    return isOvertaken ? this.#askAlone(read, options) : shown.reply;
  }

  /** Whether a call names a block above all heads, which are then asked for. */
  #isAhead(read: ReadCall): boolean {
    const { head } = this.options.pool;
    const named = head === undefined ? undefined : namedBlock(read);
    return named !== undefined && head !== undefined && named > head;
  }

  #share(read: ReadCall, key: string, options: CallOptions): Promise<Shared<Shown>> {
    const { caller, deadlineMs, signal } = options;
    const view = this.#view(read, caller);
    const passenger = {
      key: deadlineMs === undefined ? key : `${deadlineMs} ${key}`,
      minHead: neededHead(read, view, this.options.pool),
      isSince: (moment: number) => this.#callers.isSince(caller, moment),
      signal,
    };
    return this.#flights.board(passenger, (everyoneLeft) => {
      const own = { signal: everyoneLeft };
      const limits = deadlineMs === undefined ? own : { ...own, deadlineMs };
      return this.#send(read, view, limits, key);
    });
  }

  /**
   * The head a caller is told: not below one told before, and not one that only some of the
   * machines behind an upstream have, as the next call may reach another of them.
   */
  #tellHead({ reply, block }: Shown, caller: string | undefined): RpcReply {
    if (block === undefined) return reply;
    const sure = Math.min(block, this.options.pool.bestHead ?? block);
    const head = Math.max(sure, this.#callers.highest(caller) ?? 0);
    this.#callers.saw(caller, head);
    if (head === block) return reply;
    const { bytes, id } = localResult(`0x${head.toString(16)}`);
    return { ...reply, bytes, id };
  }

  /** Sends a read to nodes and keeps the answer, under `key`, when it cannot change. */
  async #send(read: ReadCall, view: View, options: CallOptions, key: string): Promise<Shown> {
    const generation = this.#generation;
    const { pool } = this.options;
    const isLogs = read.call.method === "eth_getLogs" && read.refs.kind === "range";
    const reply = isLogs
      ? await this.options.readRange(read, view, options)
      : await dispatchRead(pool, read.call, options, readRules(pool, read, view));
    const { method } = read;
    if (!method || reply.isError) return { reply, block: undefined };
    if (method.evidence === "block") {
      const block = seenBlock(reply.answer);
      if (block) this.#finality.saw(block);
    }
    const shown = { reply, block: highestBlock(method.evidence, reply.answer) };
    if (key !== "" && method.isFixed && generation === this.#generation) {
      this.#keep(read, shown, key);
    }
    return shown;
  }

  #keep(read: ReadCall, shown: Shown, key: string): void {
    const { bytes, id, upstream, answer } = shown.reply;
    const block = this.#fixedAt(read, shown.block);
    if (block === undefined || isEmptyResult(answer)) return;
    const { cache, chain } = this.options;
    if (block === "always") cache.set(chain.id, key, { bytes, id, upstream, block: undefined });
    else if (this.#finality.isFinal(block))
      cache.set(chain.id, key, { bytes, id, upstream, block });
  }

  /** The block that decides whether an answer can change; undefined when none does. */
  #fixedAt({ refs }: ReadCall, shown: number | undefined): number | "always" | undefined {
    if (refs.kind === "constant") return "always";
    if (refs.kind === "hash") return shown;
    if (refs.kind === "block") return refs.ref.kind === "number" ? refs.ref.number : undefined;
    if (refs.kind !== "range" || refs.to.kind !== "number") return undefined;
    const isClosed = refs.from.kind === "number" || refs.from.kind === "earliest";
    return isClosed ? refs.to.number : undefined;
  }

  /** Notes what a caller is being shown. */
  #note({ call, refs }: ReadCall, { reply, block }: Shown, caller: string | undefined): void {
    if (caller === undefined || reply.isError || call.method === "eth_blockNumber") return;
    if (block !== undefined) this.#callers.saw(caller, block);
    else if (refs.kind === "block" && refs.ref.kind === "number" && !isEmptyResult(reply.answer)) {
      // State at a block shows that the block is there.
      this.#callers.saw(caller, Math.min(refs.ref.number, this.options.pool.head ?? -1));
    }
  }

  #view({ refs }: ReadCall, caller: string | undefined): View {
    const isOwn = refs.kind === "hash" && this.#callers.isOwn(caller, refs.hash);
    return { highest: this.#callers.highest(caller), isOwn };
  }

  async #askBlock(block: string): Promise<NodeReply["answer"] | undefined> {
    const call = { method: "eth_getBlockByNumber", params: JSON.stringify([block, false]) };
    const options = { deadlineMs: FINALITY_DEADLINE_MS };
    const reply = await dispatchRead(this.options.pool, call, options).catch(() => undefined);
    return reply?.answer;
  }

  #forget(lastKept: number): void {
    this.#generation++;
    this.options.cache.purge(this.options.chain.id, lastKept);
  }
}

function keptReply({ bytes, id, upstream }: KeptAnswer): RpcReply {
  const costs = { attempts: 0, hedged: false, retried: false };
  return { bytes, id, isError: false, upstream, source: "cache", ...costs };
}

/** Whether an answer that cannot change may exist: not for what moves with the tip. */
function mayBeKept({ method, refs }: ReadCall): boolean {
  if (!method?.isFixed || refs.kind === "unknown") return false;
  return refs.kind !== "block" || refs.ref.kind === "number";
}

import type { Clock } from "../../lib/clock.ts";
import { hashOf } from "../../lib/hash.ts";
import type { ChainPool } from "../chainPool.ts";
import { dispatchRead, type NodeReply } from "../dispatch.ts";
import type { UpstreamObserver } from "../observer.ts";
import { protocolOf } from "../protocol.ts";
import type { CallOptions, CallUnderWay, ReplyTarget, RpcCall, RpcReply } from "../types.ts";
import { namedBlock, neededHead, type View } from "./belief.ts";
import { type ReadCall, readCall, readParams } from "./blockRefs.ts";
import type { AnswerCache, KeptAnswer } from "./cache.ts";
import { Callers, type CallerView } from "./callers.ts";
import { canonicalKey, canonicalParams, keyOf } from "./canonical.ts";
import { Finality, type FinalityRule } from "./finality.ts";
import { localResult } from "./localReply.ts";
import { isShareable } from "./methods.ts";
import { isEmptyResult, seenBlock } from "./observed.ts";
import { type FlightHost, type RangeReader, ReadFlight, type Shown } from "./readFlight.ts";
import { Flights, type Passenger } from "./sharing.ts";

/** Longest wait for the upstreams' heads when a call names a block above them, ms. */
const LOOK_AHEAD_MS = 500;
/** Time allowed for asking what is final, ms. */
const FINALITY_DEADLINE_MS = 5_000;

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
export class ChainReader implements FlightHost {
  readonly #callers = new Callers();
  readonly flights = new Flights<Shown>();
  readonly #finality: Finality;
  /** Grows with each reorganisation; answers asked for before one are not kept after it. */
  generation = 0;
  readonly pool: ChainPool;
  readonly readRange: RangeReader;

  constructor(private readonly options: ChainReaderOptions) {
    const { chain, clock, pool } = options;
    this.pool = pool;
    this.readRange = options.readRange;
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

  /** Answers a read; what is known is told before this returns. */
  read(
    call: RpcCall,
    { caller, deadlineMs }: Omit<CallOptions, "signal">,
    target: ReplyTarget,
  ): CallUnderWay {
    const read = readCall(call);
    const key = isShareable(call.method, read.method) ? canonicalParams(read) : "";
    const ticket = new Ticket(this, read, key, deadlineMs, this.#callers.of(caller), target);
    const known = this.#answerHere(read) ?? this.#answerKept(read, key, ticket.caller);
    if (known) ticket.tell(known);
    else if (key === "") this.#askAlone(ticket);
    else if (this.#isAhead(read)) void this.#askAhead(ticket);
    else this.#share(ticket);
    return ticket;
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
  #answerKept(read: ReadCall, key: string, caller: CallerView): RpcReply | undefined {
    if (key === "" || !mayBeKept(read)) return undefined;
    const kept = this.options.cache.get(this.options.chain.id, keyOf(read.call.method, key));
    if (kept?.block !== undefined) caller.saw(kept.block);
    return kept && keptReply(kept);
  }

  #askAlone(ticket: Ticket): void {
    ticket.isAlone = true;
    const view = this.#view(ticket.read, ticket.caller);
    this.#depart(ticket, "", 0, view, neededHead(ticket.read, view, this.options.pool));
  }

  /** Whether a call names a block above all heads, which are then asked for. */
  #isAhead(read: ReadCall): boolean {
    const { head } = this.options.pool;
    const named = head === undefined ? undefined : namedBlock(read);
    return named !== undefined && head !== undefined && named > head;
  }

  async #askAhead(ticket: Ticket): Promise<void> {
    await this.options.pool.refreshHeads(LOOK_AHEAD_MS);
    if (!ticket.isGone) this.#share(ticket);
  }

  /** Joins the flight of a key, or starts one. */
  #share(ticket: Ticket): void {
    const { read, caller, deadlineMs } = ticket;
    const key = deadlineMs === undefined ? ticket.key : `${deadlineMs} ${ticket.key}`;
    const view = this.#view(read, caller);
    const minHead = neededHead(read, view, this.options.pool);
    const hash = hashOf(key);
    const running = this.flights.find(read.call.method, key, hash);
    if (!running || running.lowestHead < minHead || !caller.isSince(running.begunAt)) {
      return this.#depart(ticket, key, hash, view, minHead);
    }
    ticket.flight = running;
    running.board(ticket);
  }

  /** @param key - empty for a call that is not shared */
  #depart(ticket: Ticket, key: string, hash: number, view: View, minHead: number): void {
    const begunAt = this.#callers.tick();
    const flight = new ReadFlight(this, ticket.read, view, key, hash, begunAt, minHead, ticket);
    ticket.flight = flight;
    if (key !== "") this.flights.announce(flight);
    flight.start(ticket.deadlineMs);
  }

  /** A flight brought what a caller asked for. */
  landed(ticket: Ticket, shown: Shown, joined: boolean): void {
    const { read, caller } = ticket;
    if (ticket.isAlone) return ticket.tell(shown.reply);
    this.#note(read, shown, caller);
    if (this.#isOvertaken(read, shown, caller)) return this.#askAlone(ticket);
    const isHead = read.call.method === "eth_blockNumber";
    const reply = isHead ? this.#tellHead(shown, caller) : shown.reply;
    if (!joined) return ticket.tell(reply);
    ticket.tell({ ...reply, source: "shared", attempts: 0, hedged: false, retried: false });
  }

  /** Counts an answer. */
  observe({ method, refs }: ReadCall, { source }: RpcReply): void {
    const { chain, observer } = this.options;
    const isKnown = method !== undefined && refs.kind !== "unknown";
    observer.read?.({ chainId: chain.id, source, isKnown });
  }

  /**
   * Answers of one caller's concurrent calls may overtake each other; a block that arrives after a
   * higher one is asked for again.
   */
  #isOvertaken({ call, refs }: ReadCall, { block }: Shown, { highest }: CallerView): boolean {
    if (block === undefined || refs.kind !== "block" || refs.ref.kind !== "tip") return false;
    return call.method !== "eth_blockNumber" && highest !== undefined && block < highest;
  }

  /**
   * The head a caller is told: not below one told before, and not one that only some of the
   * machines behind an upstream have, as the next call may reach another of them.
   */
  #tellHead({ reply, block }: Shown, caller: CallerView): RpcReply {
    if (block === undefined) return reply;
    const sure = Math.min(block, this.options.pool.bestHead ?? block);
    const head = Math.max(sure, caller.highest ?? 0);
    caller.saw(head);
    if (head === block) return reply;
    const { bytes, id } = localResult(`0x${head.toString(16)}`);
    return { ...reply, bytes, id };
  }

  brought({ read, key, generation }: ReadFlight, shown: Shown): void {
    const { method } = read;
    const { answer } = shown.reply;
    if (method?.evidence === "block") {
      const seen = seenBlock(answer);
      if (seen) this.#finality.saw(seen);
    }
    if (key === "" || !method?.isFixed || generation !== this.generation) return;
    const block = this.#fixedAt(read, shown.block);
    if (block === undefined || isEmptyResult(answer)) return;
    this.#keep(block, shown.reply, canonicalKey(read));
  }

  /** Keeps an answer that cannot change. @param block - the block it is from, unless it is always so */
  #keep(block: number | "always", { bytes, id, upstream }: NodeReply, key: string): void {
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
  #note({ call, refs }: ReadCall, { reply, block }: Shown, caller: CallerView): void {
    if (reply.isError || call.method === "eth_blockNumber") return;
    if (block !== undefined) caller.saw(block);
    else if (refs.kind === "block" && refs.ref.kind === "number" && !isEmptyResult(reply.answer)) {
      // State at a block shows that the block is there.
      caller.saw(Math.min(refs.ref.number, this.options.pool.head ?? -1));
    }
  }

  #view({ refs }: ReadCall, caller: CallerView) {
    return {
      highest: caller.highest,
      isOwn: refs.kind === "hash" && caller.isOwn(refs.hash),
    };
  }

  async #askBlock(block: string): Promise<NodeReply["answer"] | undefined> {
    const call = { method: "eth_getBlockByNumber", params: JSON.stringify([block, false]) };
    const options = { deadlineMs: FINALITY_DEADLINE_MS };
    const reply = await dispatchRead(this.options.pool, call, options).catch(() => undefined);
    return reply?.answer;
  }

  #forget(lastKept: number): void {
    this.generation++;
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

/** One caller's read, from the question to the answer. */
class Ticket implements Passenger<Shown>, CallUnderWay {
  /** The call of its own that it waits for, and which is nobody else's. */
  isAlone = false;
  isGone = false;
  flight: { leave(passenger: Passenger<Shown>): void } | undefined;

  constructor(
    private readonly reader: ChainReader,
    readonly read: ReadCall,
    /** Equal for calls of the method that ask the same; empty for one that is not shared. */
    readonly key: string,
    readonly deadlineMs: number | undefined,
    readonly caller: CallerView,
    private readonly target: ReplyTarget,
  ) {}

  arrived(shown: Shown, joined: boolean): void {
    this.flight = undefined;
    this.reader.landed(this, shown, joined);
  }

  crashed(error: unknown): void {
    this.flight = undefined;
    this.target.failed(error);
  }

  tell(reply: RpcReply): void {
    this.reader.observe(this.read, reply);
    this.target.replied(reply);
  }

  abort(): void {
    this.isGone = true;
    this.flight?.leave(this);
    this.flight = undefined;
  }
}

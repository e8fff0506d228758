import { type Cancel, cancelWith } from "../../lib/cancel.ts";
import type { ChainPool } from "../chainPool.ts";
import { dispatchRead, type NodeReply, type ReadRules } from "../dispatch.ts";
import { readRules, type View } from "../reads/belief.ts";
import { readCall } from "../reads/blockRefs.ts";
import { type CallOptions, type RpcCall, UpstreamUnavailableError } from "../types.ts";
import type { Upstream } from "../upstream.ts";
import { type BlockRange, type LogCaps, sizeOf, USUAL_LIMIT } from "./caps.ts";
import { countLogs, listBytes, mergeLists } from "./merge.ts";
import { errorText, type LogsQuery, pieceCall } from "./query.ts";
import { parseRefusal, type Refusal } from "./refusal.ts";
import { Slots } from "./slots.ts";

/** Time for a whole query when the caller names none, ms. */
const LOGS_DEADLINE_MS = 30_000;
/** Pieces of one query under way at once. */
const MAX_CONCURRENT = 4;
/** Requests one query may need; more must be asked for in parts. */
const MAX_PIECES = 2_000;
/** Pieces that may go unanswered in a row before the query is given up; each is asked for again. */
const MAX_FAILURES = 8;
/** Largest merged answer. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** With more pieces than this, it is worth asking an upstream whose limit is unknown for more. */
const WORTH_PROBING = 16;

/** The query cannot be answered by any node, however often it is asked. */
export class TooMuchError extends Error {
  override readonly name = "TooMuchError";
}

/** A node's error about the query itself, which is the caller's to see. */
export class NodeErrorReply extends Error {
  override readonly name = "NodeErrorReply";
  constructor(readonly reply: NodeReply) {
    super("the node answered with an error");
  }
}

export interface LogsRunOptions {
  readonly pool: ChainPool;
  readonly caps: LogCaps;
  readonly query: LogsQuery;
  readonly view: View;
  readonly options: CallOptions;
}

/** One `eth_getLogs` under way, in as many pieces as its upstreams' limits ask for. */
export class LogsRun {
  readonly #slots = new Slots(MAX_CONCURRENT);
  readonly #cancel: Cancel;
  readonly #untilMs: number;
  readonly #upstreams = new Set<string>();
  #attempts = 0;
  #pieces = 0;
  #failures = 0;
  #bytes = 0;
  #retried = false;

  constructor(private readonly run: LogsRunOptions) {
    const { pool, options } = run;
    this.#cancel = cancelWith(options.signal);
    const deadlineMs = options.deadlineMs ?? LOGS_DEADLINE_MS;
    this.#untilMs = pool.options.clock.monotonic() + deadlineMs;
  }

  /**
   * Answers the query.
   * @throws TooMuchError, NodeErrorReply, UpstreamUnavailableError, or the signal's reason
   */
  async start(): Promise<NodeReply> {
    const { range } = this.run.query;
    try {
      if (this.#plan(range).size >= sizeOf(range)) {
        const whole = await this.#askWhole();
        if (whole) return whole;
      }
      return this.#reply(await this.#read(range));
    } finally {
      this.#cancel.abort();
    }
  }

  /** Sends the caller's own text; undefined when its range was refused. */
  async #askWhole(): Promise<NodeReply | undefined> {
    const { pool, query, view } = this.run;
    const rules = readRules(pool, query.read, view);
    const reply = await this.#dispatch(query.read.call, query.range, rules, query.namedBlocks);
    if (this.#learn(query.range, reply, query.namedBlocks)) return undefined;
    return { ...reply, attempts: this.#attempts };
  }

  /** Lists of the logs of a range, in order. */
  async #read(range: BlockRange): Promise<Uint8Array[]> {
    const blocks = sizeOf(range);
    for (;;) {
      this.#cancel.throwIfAborted();
      const { size, isTrial } = this.#plan(range);
      if (size === 0) {
        throw new TooMuchError(
          `block ${range.from} holds more matching logs than a node returns; narrow the filter by address or topics`,
        );
      }
      const parts = size < blocks ? splitEvenly(range, size) : [range];
      const [piece = range] = parts;
      if (parts.length > 1 && !isTrial) return this.#readParts(parts);
      const outcome = await this.#slots.run(async () => {
        // While it waited, whoever was to take it may have refused as much, or died.
        return this.#candidates().some(this.#suitsFor(piece)) ? this.#ask(piece) : "unsuited";
      });
      if (outcome === "unsuited" && piece !== range) return this.#readParts(parts);
      if (outcome instanceof Uint8Array) {
        if (piece.to === range.to) return [outcome];
        return [outcome, ...(await this.#read({ from: piece.to + 1, to: range.to }))];
      }
      const isLarge = typeof outcome === "object" && outcome.kind === "results";
      const suggested = isLarge ? outcome.suggested : undefined;
      const isInside =
        suggested &&
        suggested.from === range.from &&
        suggested.to > range.from &&
        suggested.to < range.to;
      if (isInside) {
        return this.#readParts([
          { from: range.from, to: suggested.to },
          { from: suggested.to + 1, to: range.to },
        ]);
      }
    }
  }

  async #readParts(parts: readonly BlockRange[]): Promise<Uint8Array[]> {
    this.#pieces += parts.length;
    if (this.#pieces > MAX_PIECES) {
      throw new TooMuchError(
        `the range needs more than ${MAX_PIECES} requests at the nodes' limits; ask for fewer blocks at once`,
      );
    }
    return (await Promise.all(parts.map((part) => this.#read(part)))).flat();
  }

  /** @returns the list of a piece's logs, why it was refused, or undefined when it is to be repeated */
  async #ask(range: BlockRange): Promise<Uint8Array | Refusal | undefined> {
    const { pool, query, view, caps } = this.run;
    const call = pieceCall(query.read, range);
    const blocks = sizeOf(range);
    let reply: NodeReply;
    try {
      reply = await this.#dispatch(call, range, readRules(pool, readCall(call), view), blocks);
    } catch (error) {
      if (!(error instanceof UpstreamUnavailableError)) throw error;
      this.#noteFailure(error);
      return undefined;
    }
    const refusal = this.#learn(range, reply, blocks);
    if (refusal) return refusal;
    if (reply.isError) throw new NodeErrorReply(reply);
    const list = listBytes(reply.answer);
    if (!list) throw new NodeErrorReply(reply);
    this.#failures = 0;
    caps.accepted(reply.upstream, query.filter, range, countLogs(list));
    this.#bytes += list.length + 1;
    if (this.#bytes > MAX_ANSWER_BYTES) {
      throw new TooMuchError(
        `the answer is larger than ${MAX_ANSWER_BYTES} bytes; ask for fewer blocks at once`,
      );
    }
    return list;
  }

  /** A piece went unanswered; it is repeated while there is someone to ask, and not forever. */
  #noteFailure(error: UpstreamUnavailableError): void {
    const { pool } = this.run;
    this.#retried = true;
    this.#failures++;
    const isHopeless = !pool.upstreams.some(({ usable }) => usable);
    if (isHopeless || this.#failures > MAX_FAILURES || this.#leftMs() <= 0) throw error;
  }

  async #dispatch(
    call: RpcCall,
    range: BlockRange,
    rules: ReadRules,
    blocks: number,
  ): Promise<NodeReply> {
    const deadlineMs = Math.max(1, this.#leftMs());
    const options = { deadlineMs, signal: this.#cancel };
    const suits = this.#suitsFor(range);
    const reply = await dispatchRead(this.run.pool, call, options, {
      ...rules,
      suits,
      review: (attempt) => {
        if (!attempt.answer.error) return rules.review?.(attempt) ?? "believe";
        return parseRefusal(errorText(attempt.answer), blocks) ? "final" : "believe";
      },
    });
    this.#attempts += reply.attempts;
    this.#retried ||= reply.retried;
    this.#upstreams.add(reply.upstream);
    return reply;
  }

  #learn(range: BlockRange, reply: NodeReply, blocks: number): Refusal | undefined {
    if (!reply.isError) return undefined;
    const refusal = parseRefusal(errorText(reply.answer), blocks);
    const { caps, query } = this.run;
    if (refusal) caps.refused(reply.upstream, query.filter, range, refusal);
    return refusal;
  }

  /**
   * The number of blocks to ask for at once: the most any upstream is known to take, unless so many
   * pieces would come of it that one of unknown limit is worth a try: for all at first, and for
   * what most vendors take once a limit was met on this chain.
   * @returns `isTrial`: the size is not known to be taken, so one piece goes ahead of the others
   */
  #plan(range: BlockRange): { size: number; isTrial: boolean } {
    const blocks = sizeOf(range);
    let proven = 0;
    let guessed = 0;
    let isOpen = false;
    let isLimited = false;
    for (const upstream of this.#candidates()) {
      const known = this.#known(upstream, range);
      const most = Math.min(blocks, known.proven);
      if (known.isGuess) guessed = Math.max(guessed, most);
      else proven = Math.max(proven, most);
      isLimited ||= known.most < blocks;
      if (known.most >= blocks && known.proven < blocks) isOpen = true;
      else if (known.proven === 0) proven = Math.max(proven, Math.min(blocks, known.most));
    }
    const size = Math.max(proven, guessed);
    if (!isOpen || Math.ceil(blocks / size) <= WORTH_PROBING) {
      return { size, isTrial: guessed > proven };
    }
    const isUsual = isLimited && size < USUAL_LIMIT;
    return { size: isUsual ? Math.min(blocks, USUAL_LIMIT) : blocks, isTrial: true };
  }

  /** Who may be asked for a range: those known to take it, or when there is none, the unknown. */
  #suitsFor(range: BlockRange): (upstream: Upstream) => boolean {
    const blocks = sizeOf(range);
    return (upstream) => {
      const known = this.#known(upstream, range);
      if (known.most < blocks) return false;
      if (known.proven >= blocks) return true;
      return !this.#candidates().some((other) => this.#known(other, range).proven >= blocks);
    };
  }

  #known(upstream: Upstream, range: BlockRange) {
    return this.run.caps.known(upstream.name, this.run.query.filter, range);
  }

  #candidates(): readonly Upstream[] {
    const { upstreams } = this.run.pool;
    const usable = upstreams.filter((upstream) => upstream.usable);
    return usable.length > 0 ? usable : upstreams.filter(({ identity }) => identity !== "wrong");
  }

  #leftMs(): number {
    return this.#untilMs - this.run.pool.options.clock.monotonic();
  }

  #reply(lists: readonly Uint8Array[]): NodeReply {
    const answer = mergeLists(lists);
    return {
      bytes: answer.bytes,
      id: answer.id,
      isError: false,
      upstream: [...this.#upstreams].join(", "),
      attempts: this.#attempts,
      source: "upstream",
      hedged: false,
      retried: this.#retried,
      answer,
    };
  }
}

/** Parts of at most `size` blocks, as equal as can be. */
export function splitEvenly({ from, to }: BlockRange, size: number): BlockRange[] {
  const blocks = to - from + 1;
  const count = Math.ceil(blocks / size);
  const parts: BlockRange[] = [];
  for (let index = 0; index < count && index <= MAX_PIECES; index++) {
    parts.push({
      from: from + Math.floor((blocks * index) / count),
      to: from + Math.floor((blocks * (index + 1)) / count) - 1,
    });
  }
  return parts;
}

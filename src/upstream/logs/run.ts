import { type Cancel, cancelWith } from "../../lib/cancel.ts";
import type { ChainPool } from "../chainPool.ts";
import { dispatchRead, type NodeReply, type ReadRules } from "../dispatch.ts";
import { readRules, type View } from "../reads/belief.ts";
import { readCall } from "../reads/blockRefs.ts";
import { type CallOptions, type RpcCall, UpstreamUnavailableError } from "../types.ts";
import { type BlockRange, type LogCaps, sizeOf } from "./caps.ts";
import { countLogs, listBytes, mergeLists } from "./merge.ts";
import { errorText, isTrouble, type LogsQuery, pieceCall } from "./query.ts";
import { parseRefusal, type Refusal } from "./refusal.ts";
import { Slots } from "./slots.ts";
import { Takers } from "./takers.ts";

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
  readonly #takers: Takers;
  #attempts = 0;
  #pieces = 0;
  #failures = 0;
  /** Where pieces begin that were answered with a node's own trouble; as many as pieces at most. */
  readonly #troubled = new Set<number>();
  #bytes = 0;
  #retried = false;

  constructor(private readonly run: LogsRunOptions) {
    const { pool, caps, query, options } = run;
    this.#cancel = cancelWith(options.signal);
    this.#takers = new Takers({ pool, caps, filter: query.filter });
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
      if (this.#takers.plan(range).size >= sizeOf(range)) {
        const whole = await this.#askWhole();
        if (whole) return whole;
      }
      return this.#reply(await this.#read(range));
    } finally {
      this.#cancel.abort();
    }
  }

  /** Sends the caller's own text; undefined when its range was refused, or who takes it is out. */
  async #askWhole(): Promise<NodeReply | undefined> {
    const { pool, query, view, caps } = this.run;
    const { read, range, namedBlocks } = query;
    if (!(await this.#awaitTaker(range))) return undefined;
    let reply: NodeReply;
    try {
      reply = await this.#dispatch(read.call, range, readRules(pool, read, view), namedBlocks);
    } catch (error) {
      if (!(error instanceof UpstreamUnavailableError) || this.#takers.isServed(range)) throw error;
      this.#noteFailure(error);
      return undefined;
    }
    if (this.#learn(range, reply, namedBlocks)) return undefined;
    if (!reply.isError) caps.took(reply.upstream, sizeOf(range));
    return { ...reply, attempts: this.#attempts };
  }

  /** Lists of the logs of a range, in order. */
  async #read(range: BlockRange): Promise<Uint8Array[]> {
    const blocks = sizeOf(range);
    for (;;) {
      this.#cancel.throwIfAborted();
      const { size, isTrial } = this.#takers.plan(range);
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
        return (await this.#awaitTaker(piece)) ? this.#ask(piece) : "unsuited";
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

  #awaitTaker(range: BlockRange): Promise<boolean> {
    return this.#takers.await(range, this.#untilMs, this.#cancel);
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
    if (reply.isError) return this.#judgeError(range, reply);
    const list = listBytes(reply.answer);
    if (!list) throw new NodeErrorReply(reply);
    this.#failures = 0;
    this.#takers.answered(reply.upstream);
    caps.accepted(reply.upstream, query.filter, range, countLogs(list));
    this.#bytes += list.length + 1;
    if (this.#bytes > MAX_ANSWER_BYTES) {
      throw new TooMuchError(
        `the answer is larger than ${MAX_ANSWER_BYTES} bytes; ask for fewer blocks at once`,
      );
    }
    return list;
  }

  /** A node in trouble may have been the only one to take the piece: it is asked once more, later. */
  #judgeError(range: BlockRange, reply: NodeReply): undefined {
    if (!isTrouble(reply.answer) || this.#troubled.has(range.from)) throw new NodeErrorReply(reply);
    this.#troubled.add(range.from);
    this.#retried = true;
  }

  /** A piece went unanswered; it is repeated while there is someone to ask, and not forever. */
  #noteFailure(error: UpstreamUnavailableError): void {
    this.#retried = true;
    this.#failures++;
    const isHopeless = !this.#takers.hasHope() || this.#leftMs() <= 0;
    if (isHopeless || this.#failures > MAX_FAILURES) throw error;
  }

  async #dispatch(
    call: RpcCall,
    range: BlockRange,
    rules: ReadRules,
    blocks: number,
  ): Promise<NodeReply> {
    const deadlineMs = Math.max(1, this.#leftMs());
    const options = { deadlineMs, signal: this.#cancel };
    const suits = this.#takers.suitsFor(range);
    const reply = await dispatchRead(this.run.pool, call, options, {
      ...rules,
      suits,
      review: (attempt, answer) => {
        if (!answer.error) return rules.review?.(attempt, answer) ?? "believe";
        return parseRefusal(errorText(answer), blocks) ? "final" : "believe";
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

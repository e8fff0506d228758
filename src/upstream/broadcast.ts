import { textOf } from "../lib/jsonSpan.ts";
import type { ChainPool } from "./chainPool.ts";
import type { Verdict } from "./classify.ts";
import { answerOf, DEFAULT_DEADLINE_MS } from "./dispatch.ts";
import { type ChainProtocol, protocolOf } from "./protocol.ts";
import {
  type CallOptions,
  type RpcCall,
  type RpcReply,
  UpstreamUnavailableError,
} from "./types.ts";
import { resultOf, type Upstream } from "./upstream.ts";
import type { NodeAnswer } from "./nodeAnswer.ts";

/** Nodes that are given a transaction at the same time. */
const WIDTH = 2;
/** Nodes that may be given it altogether. */
const MAX_ATTEMPTS = 3;
/** Time without an answer after which one more node is asked, ms. */
const PATIENCE_MS = 1_000;
/** Pause before a node that failed is asked again because there is no other. */
const REPEAT_PAUSE_MS = 100;
/** Time for asking a node whether it has our transaction, ms. */
const LOOKUP_TIMEOUT_MS = 3_000;

/** Time one node has for taking the transaction, ms. */
const BROADCAST_TIMEOUT_MS = 10_000;

/** The node has this very transaction already. */
const duplicateText =
  /already known|known transaction|already_exists|already imported|already in (?:the )?mempool|already (?:been )?processed/;
/**
 * The node would not take the transaction now, and may have it: the sender's nonce was used, by this
 * transaction or by another, or its blockhash is too old for Solana to tell.
 */
const tooLateText =
  /nonce (?:is )?too low|nonce_too_low|old nonce|invalid transaction nonce|blockhash ?not ?found/;

/** What came of giving a transaction to one node. */
type Attempt =
  | { readonly kind: "accepted"; readonly reply: RpcReply }
  | { readonly kind: "rejected"; readonly reply: RpcReply }
  | { readonly kind: "failed" };

/**
 * Broadcasts a signed transaction. Its hash is known from its bytes, so giving it to several nodes,
 * or again, cannot do it twice, and "already known" is success. The caller's signal is ignored: a
 * transaction that may have left cannot be taken back.
 * @throws UpstreamUnavailableError when no node took or rejected it
 */
export async function broadcast(
  pool: ChainPool,
  call: RpcCall,
  options: CallOptions,
): Promise<RpcReply> {
  pool.begin(pool.options.clock.monotonic());
  const { clock, chain, observer } = pool.options;
  const startMs = clock.monotonic();
  const run = new BroadcastRun(pool, call, startMs + (options.deadlineMs ?? DEFAULT_DEADLINE_MS));
  const reply = await run.start();
  observer.call?.({
    chainId: chain.id,
    kind: "broadcast",
    outcome: reply ? "answer" : "unavailable",
    attempts: run.attempts,
    hedged: false,
    durationMs: clock.monotonic() - startMs,
  });
  if (!reply) throw new UpstreamUnavailableError("no upstream took the transaction");
  return reply;
}

class BroadcastRun {
  attempts = 0;
  /** The transaction's id, where it follows from its bytes. */
  readonly #hash: string | undefined;
  readonly #protocol: ChainProtocol;
  #tried: Upstream[] = [];

  constructor(
    private readonly pool: ChainPool,
    private readonly call: RpcCall,
    private readonly untilMs: number,
  ) {
    this.#protocol = protocolOf(pool.options.chain.kind);
    // Ethereum's synchronous variant answers with a receipt, which a hash cannot stand for.
    if (call.method !== this.#protocol.broadcastMethod) return;
    this.#hash = this.#protocol.transactionId(parseParams(call.params));
  }

  /**
   * Gives the transaction to one node after another, some at a time, until one accepts it.
   * @returns the acceptance, else the last rejection; undefined when none answered
   */
  async start(): Promise<RpcReply | undefined> {
    const pending = new Set<Promise<Attempt>>();
    let width = WIDTH;
    let rejection: RpcReply | undefined;
    for (;;) {
      // A rejection is most often every node's; those asked already may still accept.
      const wanted = rejection ? 0 : width;
      while (pending.size < wanted && this.attempts < MAX_ATTEMPTS) {
        const upstream = await this.#take(pending.size === 0);
        if (!upstream) break;
        const attempt = this.#send(upstream).finally(() => pending.delete(attempt));
        pending.add(attempt);
      }
      if (pending.size === 0) return rejection;
      const event = await Promise.race([...pending, impatience()]);
      if (event === "impatient") {
        if (rejection) return rejection;
        width = Math.min(width + 1, MAX_ATTEMPTS);
      } else if (event.kind === "accepted") return event.reply;
      else if (event.kind === "rejected") rejection = event.reply;
    }
  }

  /** A node to give it to: one that was not tried, or with `patience` also one that failed. */
  async #take(patience: boolean): Promise<Upstream | undefined> {
    const upstream = this.pool.pick("broadcast", this.#tried);
    if (upstream || !patience) return upstream;
    const { clock } = this.pool.options;
    const waited = await this.pool.acquire("broadcast", this.#tried, this.untilMs, undefined);
    if (waited || this.#tried.length === 0) return waited;
    this.#tried = [];
    await clock.sleep(REPEAT_PAUSE_MS * this.attempts);
    return this.pool.pick("broadcast", this.#tried);
  }

  async #send(upstream: Upstream): Promise<Attempt> {
    this.#tried.push(upstream);
    this.attempts++;
    const verdict = await this.#attempt(upstream);
    const answer = answerOf(verdict);
    // One that refused for pace may take it later; its pace tells when.
    if (verdict.kind === "limited") this.#tried = this.#tried.filter((tried) => tried !== upstream);
    if (!answer) return { kind: "failed" };
    if (!answer.error) return { kind: "accepted", reply: this.#reply(answer, upstream) };
    return this.#judge(answer, upstream, verdict);
  }

  async #judge(answer: NodeAnswer, upstream: Upstream, verdict: Verdict): Promise<Attempt> {
    const text = answer.error ? textOf(answer.bytes, answer.error).toLowerCase() : "";
    const known =
      duplicateText.test(text) || (tooLateText.test(text) && (await this.#isOnNode(upstream)));
    if (known && this.#hash) return { kind: "accepted", reply: this.#success(upstream) };
    if (verdict.kind === "retry" && verdict.fault) return { kind: "failed" };
    return { kind: "rejected", reply: this.#reply(answer, upstream) };
  }

  /** Whether the node knows our transaction, mined or waiting. */
  async #isOnNode(upstream: Upstream): Promise<boolean> {
    if (!this.#hash) return false;
    const lookup = this.#protocol.lookup(this.#hash);
    const leftMs = this.untilMs - this.pool.options.clock.monotonic();
    const result = resultOf(await upstream.ask(lookup, Math.min(LOOKUP_TIMEOUT_MS, leftMs)));
    return this.#protocol.isKnown(result);
  }

  #attempt(upstream: Upstream): Promise<Verdict> {
    const leftMs = this.untilMs - this.pool.options.clock.monotonic();
    const timeoutMs = Math.max(1, Math.min(BROADCAST_TIMEOUT_MS, leftMs));
    return upstream.attemptOnce(this.call, "broadcast", timeoutMs);
  }

  #reply(answer: NodeAnswer, upstream: Upstream): RpcReply {
    return {
      bytes: answer.bytes,
      id: answer.id,
      isError: answer.error !== undefined,
      upstream: upstream.name,
      attempts: this.attempts,
      source: "upstream",
      hedged: false,
      retried: this.attempts > WIDTH,
    };
  }

  /** The answer a node gives that sees the transaction for the first time. */
  #success(upstream: Upstream): RpcReply {
    const text = `{"jsonrpc":"2.0","id":0,"result":"${this.#hash}"}`;
    const start = text.indexOf(":0,") + 1;
    return {
      bytes: new TextEncoder().encode(text),
      id: { start, end: start + 1 },
      isError: false,
      upstream: upstream.name,
      attempts: this.attempts,
      source: "upstream",
      hedged: false,
      retried: this.attempts > WIDTH,
    };
  }
}

/** Settles when a node has had long enough for others to be asked beside it. */
function impatience(): Promise<"impatient"> {
  return Bun.sleep(PATIENCE_MS).then(() => "impatient" as const);
}

function parseParams(params: string | undefined): readonly unknown[] {
  const value: unknown = params === undefined ? [] : JSON.parse(params);
  return Array.isArray(value) ? value : [];
}

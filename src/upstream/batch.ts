import { Cancel, type CancelSignal } from "../lib/cancel.ts";
import type { UpstreamData } from "../config/index.ts";
import { findElements, findMembers, scanDocument, type Span, valueOf } from "../lib/jsonSpan.ts";
import { classifyAnswer } from "./classify.ts";
import {
  type Connection,
  ConnectionError,
  type HttpAnswer,
  type SendOptions,
} from "./connection.ts";

/** What an upstream's registry entry says of batches. */
export type BatchData = NonNullable<UpstreamData["batch"]>;

/** A batch is sent once it holds this many bytes, whatever its number of items. */
const MAX_BATCH_BYTES = 256 * 1024;
/** Time for which an upstream that refused a batch is sent single requests, ms. */
const REFUSED_MS = 60_000;
/** Time for which a method that held up a batch is sent alone, ms, and how many such are known. */
const SLOW_METHOD_MS = 600_000;
const MAX_SLOW_METHODS = 64;

/** One request of many, already in JSON. */
export interface BatchItem {
  readonly id: number;
  readonly method: string;
  readonly text: string;
}

export interface BatcherOptions {
  readonly connection: Connection;
  readonly batch: BatchData;
  readonly now: () => number;
  /** Time after which a batch is slow, ms. */
  readonly patienceMs: () => number;
  /** Whether the node answered anything since a moment; then one item is slow, and not the node. */
  readonly answeredSince: (ms: number) => boolean;
  /**
   * Waits until the account's pace admits one more HTTP request and counts it.
   * @returns what to call when it has ended
   */
  readonly admit: (signal: CancelSignal) => Promise<() => void>;
}

interface Pending extends BatchItem {
  readonly options: SendOptions;
  readonly answer: PromiseWithResolvers<HttpAnswer>;
  isSettled: boolean;
}

/**
 * Sends the requests of a moment as one JSON-RPC array and gives each the part of the answer that
 * carries its id; the order of the parts means nothing. What an item gets is classified as if it
 * had been sent alone, so one that fails, is slow or is missing keeps none of the others.
 */
export class Batcher {
  #open: Pending[] = [];
  #openBytes = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #offUntilMs = Number.NEGATIVE_INFINITY;
  /** Methods that held up a batch, with the end of their time alone. */
  readonly #slow = new Map<string, number>();

  constructor(private readonly options: BatcherOptions) {}

  /**
   * Sends one request with others of the same moment.
   * @throws ConnectionError
   */
  send(item: BatchItem, options: SendOptions): Promise<HttpAnswer> {
    const nowMs = this.options.now();
    if (nowMs < this.#offUntilMs || nowMs < (this.#slow.get(item.method) ?? 0)) {
      return this.sendAlone(item, options);
    }
    const pending: Pending = {
      ...item,
      options,
      answer: Promise.withResolvers(),
      isSettled: false,
    };
    this.#open.push(pending);
    this.#openBytes += item.text.length;
    const isFull =
      this.#open.length >= this.options.batch.maxItems || this.#openBytes >= MAX_BATCH_BYTES;
    if (isFull) this.#flush();
    else if (this.#open.length === 1) this.#schedule();
    return pending.answer.promise;
  }

  #schedule(): void {
    const waitMs = this.options.batch.maxWaitMs ?? 0;
    if (waitMs > 0) this.#timer = setTimeout(() => this.#flush(), waitMs);
    // Everything that this turn of the event loop still starts travels together.
    else setImmediate(() => this.#flush());
  }

  #flush(): void {
    clearTimeout(this.#timer);
    const items = this.#open.filter(({ options }) => !options.signal.aborted);
    for (const item of this.#open) if (item.options.signal.aborted) fail(item, "aborted");
    this.#open = [];
    this.#openBytes = 0;
    if (items.length > 0) void this.#sendTogether(items);
  }

  async #sendTogether(items: readonly Pending[]): Promise<void> {
    const [first] = items;
    if (items.length === 1 && first) return follow(first, this.sendAlone(first, first.options));
    const leaving = new Cancel();
    const stopWatching = watchLeaving(items, leaving);
    const startMs = this.options.now();
    const stopPatience = this.#losePatience(items, startMs);
    try {
      const answer = await this.#post(items, leaving);
      await this.#distribute(items, answer);
    } catch (error) {
      const fault = error instanceof ConnectionError ? error.fault : "unreachable";
      for (const item of items) fail(item, fault);
    } finally {
      stopWatching();
      stopPatience();
    }
  }

  async #post(items: readonly Pending[], signal: CancelSignal): Promise<HttpAnswer> {
    const end = await this.#admit(signal);
    try {
      // Those who left while the batch waited for its turn are not sent.
      const bodies = items.filter(({ isSettled }) => !isSettled).map(({ text }) => text);
      const [first] = items;
      if (!first || bodies.length === 0) throw new ConnectionError("aborted");
      return await this.options.connection.send(`[${bodies.join(",")}]`, {
        ...first.options,
        signal,
      });
    } finally {
      end?.();
    }
  }

  /** Gives each item its part; when the node answered with no array, decides what that means. */
  async #distribute(items: readonly Pending[], answer: HttpAnswer): Promise<void> {
    const document = scanDocument(answer.bytes);
    const parts = document && findElements(answer.bytes, document, 2 * items.length);
    if (parts) return deliverParts(items, answer, parts);
    const isObject = document && answer.bytes[document.start] === 0x7b;
    const verdict = classifyAnswer({ ...answer, isShared: true }, 0, 0);
    if (
      !isObject ||
      answer.status >= 500 ||
      verdict.kind === "limited" ||
      verdict.kind === "reject"
    ) {
      for (const item of items) settle(item, { ...answer, isShared: true });
      return;
    }
    // One error for all: the node takes no batches, or none as large. Each request is still good.
    this.#offUntilMs = this.options.now() + REFUSED_MS;
    await Promise.all(items.map((item) => this.#sendAgain(item)));
  }

  /** Sends items apart when their batch is slow although the node is not. */
  #losePatience(items: readonly Pending[], startMs: number): () => void {
    const patienceMs = this.options.patienceMs();
    let isApart = false;
    const timer = setInterval(() => {
      const late = items.filter(({ isSettled }) => !isSettled);
      if (isApart) {
        // Alone and still not answered: these are what the others waited for.
        for (const { method } of late) this.#rememberSlow(method);
        clearInterval(timer);
      } else if (this.options.answeredSince(startMs)) {
        isApart = true;
        for (const item of late) void this.#sendAgain(item);
      }
    }, patienceMs);
    return () => clearInterval(timer);
  }

  #rememberSlow(method: string): void {
    const [oldest] = this.#slow.keys();
    if (this.#slow.size >= MAX_SLOW_METHODS && oldest !== undefined) this.#slow.delete(oldest);
    this.#slow.set(method, this.options.now() + SLOW_METHOD_MS);
  }

  /** Sends an item of a batch once more, by itself. */
  async #sendAgain(item: Pending): Promise<void> {
    if (item.isSettled) return;
    try {
      const end = await this.options.admit(item.options.signal);
      const alone = this.options.connection.send(item.text, item.options);
      await follow(item, alone.finally(end));
    } catch {
      fail(item, "aborted");
    }
  }

  /**
   * Sends one request by itself.
   * @throws ConnectionError
   */
  async sendAlone(item: BatchItem, options: SendOptions): Promise<HttpAnswer> {
    const end = await this.#admit(options.signal);
    return this.options.connection.send(item.text, options).finally(end);
  }

  /** Where whole requests are counted, they are when they are sent; items were counted before. */
  async #admit(signal: CancelSignal): Promise<(() => void) | undefined> {
    if (this.options.batch.countAs !== "requests") return undefined;
    try {
      return await this.options.admit(signal);
    } catch {
      throw new ConnectionError("aborted");
    }
  }
}

/** Ends the batch's request once every item has left or has its answer. */
function watchLeaving(items: readonly Pending[], leaving: Cancel): () => void {
  const removals = items.map((item) => {
    const onAbort = () => {
      fail(item, "aborted");
      if (items.every(({ isSettled }) => isSettled)) leaving.abort();
    };
    item.options.signal.addEventListener("abort", onAbort, { once: true });
    return () => item.options.signal.removeEventListener("abort", onAbort);
  });
  return () => {
    for (const remove of removals) remove();
  };
}

function deliverParts(items: readonly Pending[], answer: HttpAnswer, parts: readonly Span[]): void {
  const byId = new Map(items.map((item) => [item.id, item]));
  let stray: Span | undefined;
  for (const part of parts) {
    const item = byId.get(idOf(answer.bytes, part) ?? 0);
    if (!item) stray ??= part;
    else
      settle(item, { ...answer, bytes: answer.bytes.slice(part.start, part.end), isShared: true });
  }
  // A part without an id can still say, for those left out, that the pace was too high.
  const rest = stray ? answer.bytes.slice(stray.start, stray.end) : new Uint8Array();
  for (const item of items) settle(item, { ...answer, bytes: rest, isShared: true });
}

/** The id of an answer, as a number whichever way the node wrote it. */
function idOf(bytes: Uint8Array, part: Span): number | undefined {
  const [id] = findMembers(bytes, part, ["id"]) ?? [];
  const value = id && valueOf(bytes, id);
  if (typeof value === "number") return value;
  return typeof value === "string" && /^\d{1,10}$/.test(value) ? Number(value) : undefined;
}

async function follow(item: Pending, answer: Promise<HttpAnswer>): Promise<void> {
  try {
    settle(item, await answer);
  } catch (error) {
    fail(item, error instanceof ConnectionError ? error.fault : "unreachable");
  }
}

function settle(item: Pending, answer: HttpAnswer): void {
  item.isSettled = true;
  item.answer.resolve(answer);
}

function fail(item: Pending, fault: ConnectionError["fault"]): void {
  item.isSettled = true;
  item.answer.reject(new ConnectionError(fault));
}

import type { UpstreamData } from "../config/index.ts";
import type { CancelSignal } from "../lib/cancel.ts";
import { scanDocument } from "../lib/jsonSpan.ts";
import { type Timer, timers } from "../lib/timerWheel.ts";
import { AdmittedPost } from "./admittedPost.ts";
import { deliverParts, readParts } from "./batchParts.ts";
import { classifyAnswer } from "./classify.ts";
import type {
  AnswerLimits,
  AnswerTarget,
  Connection,
  ConnectionFault,
  HttpAnswer,
  Sending,
} from "./connection.ts";
import type { RequestText } from "./requestText.ts";
import type { RpcCall } from "./types.ts";

/** What an upstream's registry entry says of batches. */
export type BatchData = NonNullable<UpstreamData["batch"]>;

/** A batch is sent once it has this many UTF-16 units, whatever its number of items. */
const MAX_BATCH_LENGTH = 256 * 1024;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
/** Time for which an upstream that refused a batch is sent single requests, ms. */
const REFUSED_MS = 60_000;
/** Time for which a method that held up a batch is sent alone, ms, and how many such are known. */
const SLOW_METHOD_MS = 600_000;
const MAX_SLOW_METHODS = 64;

/** One request of many. */
export interface BatchItem extends RequestText {
  readonly id: number;
  readonly call: Pick<RpcCall, "method">;
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

/** One item of a batch on its way. */
class Pending implements Sending, AnswerTarget {
  isSettled = false;
  /** The batch it travels with, and what sends it when it was sent apart. */
  together: Together | undefined;
  apart: Sending | undefined;

  constructor(
    readonly item: BatchItem,
    private readonly target: AnswerTarget,
  ) {}

  answered(answer: HttpAnswer): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.target.answered(answer);
    this.together?.left();
  }

  faulted(fault: ConnectionFault): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.target.faulted(fault);
    this.together?.left();
  }

  drop(): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.apart?.drop();
    this.together?.left();
  }
}

/** Requests sent as one array. */
class Together implements AnswerTarget, RequestText {
  #sending: Sending | undefined;
  #patience: Timer | undefined;
  #isApart = false;
  #waiting: number;

  constructor(
    private readonly host: Batcher,
    private readonly items: readonly Pending[],
    private readonly limits: AnswerLimits,
  ) {
    this.#waiting = items.length;
  }

  start(): void {
    for (const item of this.items) item.together = this;
    this.#sending = this.host.send(this, this.limits, this);
    this.#watch(this.host.options.now());
  }

  /** An item has its answer, or its caller left. */
  left(): void {
    if (--this.#waiting > 0) return;
    this.#patience?.clear();
    // Nobody waits for the batch any longer, if it is still under way.
    this.#sending?.drop();
  }

  answered(answer: HttpAnswer): void {
    this.#sending = undefined;
    const { items } = this;
    const parts = readParts(answer, 2 * items.length);
    if (parts) return deliverParts(items, answer, parts);
    const shared = { ...answer, isShared: true };
    const document = scanDocument(answer.bytes);
    const isObject = document && answer.bytes[document.start] === 0x7b;
    const { kind } = classifyAnswer(shared, 0, atNoTime);
    if (!isObject || answer.status >= 500 || kind === "limited" || kind === "reject") {
      for (const item of items) item.answered(shared);
      return;
    }
    // One error for all: the node takes no batches, or none as large. Each request is still good.
    this.host.refused();
    for (const item of items) this.#sendAgain(item);
  }

  faulted(fault: ConnectionFault): void {
    this.#sending = undefined;
    for (const item of this.items) item.faulted(fault);
  }

  get length(): number {
    let length = 2;
    for (const { item } of this.items) length += item.length + 1;
    return length;
  }

  /** Those who left while the batch waited for its turn are not sent. */
  writeTo(target: Buffer, start: number): number {
    target[start] = OPEN_BRACKET;
    let at = start + 1;
    for (const { item, isSettled } of this.items) {
      if (isSettled) continue;
      if (at > start + 1) target[at++] = COMMA;
      at = item.writeTo(target, at);
    }
    target[at] = CLOSE_BRACKET;
    return at + 1;
  }

  /** Sends items apart when their batch is slow although the node is not. */
  #watch(startMs: number): void {
    this.#patience = timers.set(this.host.options.patienceMs(), () => {
      const late = this.items.filter(({ isSettled }) => !isSettled);
      if (this.#isApart) {
        // Alone and still not answered: these are what the others waited for.
        for (const { item } of late) this.host.rememberSlow(item.call.method);
        return;
      }
      if (this.host.options.answeredSince(startMs)) {
        this.#isApart = true;
        for (const item of late) this.#sendAgain(item);
      }
      this.#watch(startMs);
    });
  }

  /** Sends an item of the batch once more, by itself. */
  #sendAgain(item: Pending): void {
    if (item.isSettled) return;
    const post = new AdmittedPost(this.host.options, item);
    item.apart = post;
    void post.start(item.item, this.limits);
  }
}

/** No time is looked at where only the kind of an answer is asked for. */
const atNoTime = { now: () => 0 };

/**
 * Sends the requests of a moment as one JSON-RPC array and gives each the part of the answer that
 * carries its id; the order of the parts means nothing. What an item gets is classified as if it
 * had been sent alone, so one that fails, is slow or is missing keeps none of the others.
 */
export class Batcher {
  #open: Pending[] = [];
  #openLength = 0;
  #limits: AnswerLimits | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #offUntilMs = Number.NEGATIVE_INFINITY;
  /** Methods that held up a batch, with the end of their time alone. */
  readonly #slow = new Map<string, number>();

  constructor(readonly options: BatcherOptions) {}

  /** Sends one request with others of the same moment. */
  post(item: BatchItem, limits: AnswerLimits, target: AnswerTarget): Sending {
    const nowMs = this.options.now();
    if (
      nowMs < this.#offUntilMs ||
      (this.#slow.size > 0 && this.#isSlow(item.call.method, nowMs))
    ) {
      return this.send(item, limits, target);
    }
    const pending = new Pending(item, target);
    this.#limits = limits;
    this.#open.push(pending);
    this.#openLength += item.length;
    const isFull =
      this.#open.length >= this.options.batch.maxItems || this.#openLength >= MAX_BATCH_LENGTH;
    if (isFull) this.#flush();
    else if (this.#open.length === 1) this.#schedule();
    return pending;
  }

  /** Sends one HTTP request. Where the pace counts those, it is waited for; items were counted before. */
  send(body: RequestText, limits: AnswerLimits, target: AnswerTarget): Sending {
    const { batch, connection } = this.options;
    if (batch.countAs !== "requests") return connection.post(body, limits, target);
    const post = new AdmittedPost(this.options, target);
    void post.start(body, limits);
    return post;
  }

  /** One error came for a whole batch. */
  refused(): void {
    this.#offUntilMs = this.options.now() + REFUSED_MS;
  }

  rememberSlow(method: string): void {
    const [oldest] = this.#slow.keys();
    if (this.#slow.size >= MAX_SLOW_METHODS && oldest !== undefined) this.#slow.delete(oldest);
    this.#slow.set(method, this.options.now() + SLOW_METHOD_MS);
  }

  #isSlow(method: string, nowMs: number): boolean {
    return nowMs < (this.#slow.get(method) ?? 0);
  }

  #schedule(): void {
    const waitMs = this.options.batch.maxWaitMs ?? 0;
    if (waitMs > 0) this.#timer = setTimeout(this.#flush, waitMs);
    // Everything that this turn of the event loop still starts travels together.
    else setImmediate(this.#flush);
  }

  readonly #flush = (): void => {
    clearTimeout(this.#timer);
    const items = this.#open.filter(({ isSettled }) => !isSettled);
    this.#open = [];
    this.#openLength = 0;
    const [first] = items;
    if (!first || !this.#limits) return;
    if (items.length === 1) first.apart = this.send(first.item, this.#limits, first);
    else new Together(this, items, this.#limits).start();
  };
}

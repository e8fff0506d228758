import { randomBytes } from "node:crypto";
import {
  type ChainFeeds,
  LogFilterError,
  parseLogFilter,
  type RpcCall,
  UpstreamUnavailableError,
} from "../upstream/index.ts";
import { type RpcFailure, unreachable } from "./answer.ts";
import type { OwnAnswer } from "./service.ts";
import type { Notification } from "./wsNotifier.ts";

/** A subscription that was made for a message; its notifications wait for the message's answer. */
export interface Opened {
  /** The answer with the subscription's id has been sent. */
  readonly begin: () => void;
  /** It will not be sent. */
  readonly cancel: () => void;
}

export interface SubscriptionsOptions {
  readonly feeds: ChainFeeds;
  readonly maxSubscriptions: number;
  readonly notify: (notification: Notification) => void;
  /** Called when a connection takes so long for an id that too much would wait for it. */
  readonly onOverflow: () => void;
}

/** Most notifications that wait for the answer with their subscription's id. */
const MAX_EARLY = 1_000;

interface Subscription {
  isEnded: boolean;
  /** Notifications that came before the id was sent; undefined afterwards. */
  early: Notification[] | undefined;
  stop: () => void;
}

const tooMany: RpcFailure = { code: -32003, message: "too many subscriptions on this connection" };

function invalidParams(message: string): OwnAnswer {
  return { failure: { code: -32602, message } };
}

/** The subscriptions of one connection: `eth_subscribe` and `eth_unsubscribe`. */
export class Subscriptions {
  readonly #open = new Map<string, Subscription>();

  constructor(private readonly options: SubscriptionsOptions) {}

  /** Subscriptions whose ids were sent. */
  get size(): number {
    let count = 0;
    for (const { early } of this.#open.values()) if (!early) count++;
    return count;
  }

  /**
   * Answers the two methods; undefined for any other.
   * @param opened - takes what the message opened
   */
  answer(call: RpcCall, opened: Opened[]): Promise<OwnAnswer> | undefined {
    if (call.method === "eth_subscribe") return this.#subscribe(paramsOf(call), opened);
    if (call.method === "eth_unsubscribe") return this.#unsubscribe(paramsOf(call));
    return undefined;
  }

  close(): void {
    for (const id of this.#open.keys()) this.#end(id);
  }

  async #subscribe([kind, filter]: readonly unknown[], opened: Opened[]): Promise<OwnAnswer> {
    if (this.#open.size >= this.options.maxSubscriptions) return { failure: tooMany };
    const id = `0x${randomBytes(16).toString("hex")}`;
    const subscription: Subscription = { isEnded: false, early: [], stop: () => {} };
    const onResult = (json: string) => this.#notify(id, subscription, json);
    this.#open.set(id, subscription);
    try {
      const stop = await this.#follow(kind, filter, onResult);
      if (typeof stop !== "function") {
        this.#end(id);
        return stop;
      }
      subscription.stop = stop;
      // The connection may have closed meanwhile.
      if (subscription.isEnded) stop();
    } catch (error) {
      this.#end(id);
      if (error instanceof LogFilterError) return invalidParams(`invalid filter: ${error.message}`);
      if (error instanceof UpstreamUnavailableError) return { failure: unreachable };
      throw error;
    }
    opened.push({ begin: () => this.#begin(subscription), cancel: () => this.#end(id) });
    return { result: JSON.stringify(id) };
  }

  /** @throws LogFilterError, UpstreamUnavailableError */
  async #follow(
    kind: unknown,
    filter: unknown,
    onResult: (json: string) => void,
  ): Promise<(() => void) | OwnAnswer> {
    const { blocks, logs } = this.options.feeds;
    if (kind === "newHeads") return blocks.follow(({ block }) => onResult(block.header));
    if (kind === "logs") return logs.subscribe(parseLogFilter(filter), onResult);
    return invalidParams("subscriptions are newHeads and logs");
  }

  async #unsubscribe([id]: readonly unknown[]): Promise<OwnAnswer> {
    if (typeof id !== "string") return invalidParams("the first parameter must be an id");
    const isOpen = this.#open.has(id);
    this.#end(id);
    return { result: String(isOpen) };
  }

  #notify(id: string, subscription: Subscription, json: string): void {
    const params = `{"subscription":"${id}","result":${json}}`;
    const notification: Notification = {
      text: `{"jsonrpc":"2.0","method":"eth_subscription","params":${params}}`,
      isWanted: () => !subscription.isEnded,
    };
    if (!subscription.early) return this.options.notify(notification);
    if (subscription.early.push(notification) > MAX_EARLY) this.options.onOverflow();
  }

  #begin(subscription: Subscription): void {
    const early = subscription.early ?? [];
    subscription.early = undefined;
    for (const notification of early) this.options.notify(notification);
  }

  #end(id: string): void {
    const subscription = this.#open.get(id);
    if (!subscription) return;
    this.#open.delete(id);
    subscription.isEnded = true;
    subscription.stop();
  }
}

function paramsOf({ params }: RpcCall): readonly unknown[] {
  const value: unknown = params === undefined ? [] : JSON.parse(params);
  return Array.isArray(value) ? value : [];
}

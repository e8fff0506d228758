import type { Chain } from "../chains/index.ts";
import { ApiError } from "../lib/errors.ts";
import { notAbortable } from "../lib/whenDone.ts";
import {
  type CallUnderWay,
  type ReplyTarget,
  type RpcReply,
  UpstreamUnavailableError,
} from "../upstream/index.ts";
import { errorBytes, methodRefused, resultBytes, withId } from "./answer.ts";
import type { RequestId, ValidItem } from "./request.ts";
import type { OwnAnswer, Proxy, RpcInput, RpcTarget } from "./service.ts";

/** One request on its way, alone or in a batch. */
export class ItemRun implements ReplyTarget {
  constructor(
    private readonly proxy: Proxy,
    private readonly chain: Chain,
    private readonly item: ValidItem,
    private readonly input: RpcInput,
    private readonly target: RpcTarget,
  ) {}

  start(): CallUnderWay {
    const { item } = this;
    const own = this.input.own?.(item);
    if (own) return this.#follow(own);
    const { isRefused, pool } = this.proxy;
    if (!isRefused(item.method)) {
      return pool.start(this.chain.id, item, this.input, this);
    }
    this.#tellOwn(errorBytes(item.id, methodRefused(item.method)));
    return notAbortable;
  }

  replied(reply: RpcReply): void {
    const body = withId(reply, this.item.id);
    const { attempts } = reply;
    this.target.answered({ status: 200, body, attempts, source: sourceOf(reply) });
  }

  failed(error: unknown): void {
    this.target.failed(error instanceof UpstreamUnavailableError ? unreachable(error) : error);
  }

  #follow(own: Promise<OwnAnswer>): CallUnderWay {
    own.then(
      (answer) => this.#tellOwn(ownBytes(this.item.id, answer)),
      (error: unknown) => this.failed(error),
    );
    return notAbortable;
  }

  /** An answer that needed no upstream. */
  #tellOwn(body: Uint8Array<ArrayBuffer>): void {
    this.target.answered({ status: 200, body, attempts: 0, source: "" });
  }
}

function unreachable({ retryAfterMs }: UpstreamUnavailableError): ApiError {
  if (retryAfterMs === undefined) return new ApiError("UPSTREAM_UNREACHABLE");
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  return new ApiError("UPSTREAM_UNREACHABLE", undefined, { "retry-after": String(seconds) });
}

function sourceOf({ source, hedged, retried }: RpcReply): string {
  if (!hedged && !retried) return source;
  return `${source}${hedged ? "; hedged" : ""}${retried ? "; retried" : ""}`;
}

function ownBytes(id: RequestId, answer: OwnAnswer): Uint8Array<ArrayBuffer> {
  return "failure" in answer ? errorBytes(id, answer.failure) : resultBytes(id, answer.result);
}

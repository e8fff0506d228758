import type { Chain } from "../chains/index.ts";
import type { CallUnderWay, ReplyTarget, RpcReply } from "../upstream/index.ts";
import { errorBytes, methodRefused, resultBytes, withId } from "./answer.ts";
import type { ValidItem } from "./request.ts";
import type { OwnAnswer, Proxy, RpcInput } from "./service.ts";

/** The answer to one request. */
export interface ItemAnswer {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly attempts: number;
  /** Where it came from, and what it took; empty where the pool was not asked. */
  readonly source: string;
}

export interface ItemTarget {
  answered(answer: ItemAnswer): void;
  /** @param error - UpstreamUnavailableError where no node answered */
  failed(error: unknown): void;
}

/** One request on its way, alone or in a batch. */
export class ItemRun implements ReplyTarget {
  constructor(
    private readonly proxy: Proxy,
    private readonly chain: Chain,
    private readonly item: ValidItem,
    private readonly input: RpcInput,
    private readonly target: ItemTarget,
  ) {}

  start(): CallUnderWay {
    const { call, id } = this.item;
    const own = this.input.own?.(call);
    if (own) return this.#follow(own);
    const { isRefused, pool } = this.proxy;
    if (!isRefused(call.method)) {
      return pool.start(this.chain.id, call, { caller: this.input.caller }, this);
    }
    this.#tellOwn(errorBytes(id, methodRefused(call.method)));
    return notAbortable;
  }

  replied(reply: RpcReply): void {
    const body = withId(reply, this.item.id);
    this.target.answered({ body, attempts: reply.attempts, source: sourceOf(reply) });
  }

  failed(error: unknown): void {
    this.target.failed(error);
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
    this.target.answered({ body, attempts: 0, source: "" });
  }
}

const notAbortable: CallUnderWay = { abort() {} };

function sourceOf({ source, hedged, retried }: RpcReply): string {
  if (!hedged && !retried) return source;
  return `${source}${hedged ? "; hedged" : ""}${retried ? "; retried" : ""}`;
}

function ownBytes(id: string, answer: OwnAnswer): Uint8Array<ArrayBuffer> {
  return "failure" in answer ? errorBytes(id, answer.failure) : resultBytes(id, answer.result);
}

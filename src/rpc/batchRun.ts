import type { Chain } from "../chains/index.ts";
import { ApiError } from "../lib/errors.ts";
import type { CallUnderWay } from "../upstream/index.ts";
import {
  errorBytes,
  invalidRequest,
  joinBatch,
  type RpcBody,
  type RpcFailure,
  unreachable,
} from "./answer.ts";
import { ItemRun } from "./itemRun.ts";
import type { RequestId, RequestItem, ValidItem } from "./request.ts";
import type { Proxy, RpcInput, RpcOutput, RpcTarget } from "./service.ts";

/** Largest answer to one array; items beyond it are answered with an error. */
const MAX_BATCH_BYTES = 64 * 1024 * 1024;

const batchTooLarge: RpcFailure = { code: -32003, message: "response of the batch is too large" };

/** An array of requests, run side by side: a slow or failing one keeps none of the others waiting. */
export class BatchRun implements CallUnderWay {
  readonly #bodies: RpcBody[] = [];
  readonly #sources = new Set<string>();
  readonly #underWay: CallUnderWay[] = [];
  #waiting = 0;
  #size = 0;
  #attempts = 0;
  #isOver = false;

  constructor(
    private readonly proxy: Proxy,
    private readonly chain: Chain,
    private readonly input: RpcInput,
    private readonly target: RpcTarget,
  ) {}

  /** Has the items counted, then begins them. */
  start(items: readonly RequestItem[]): CallUnderWay {
    void this.#start(items);
    return this;
  }

  abort(): void {
    this.#isOver = true;
    for (const call of this.#underWay) call.abort();
  }

  /** An item has its answer. */
  done(index: number, id: RequestId, { body, attempts, source }: RpcOutput): void {
    this.#attempts += attempts;
    if (source !== "") this.#sources.add(source);
    this.#size += body.length;
    this.#put(index, this.#size > MAX_BATCH_BYTES ? errorBytes(id, batchTooLarge) : body);
  }

  /** An item has none. */
  lost(index: number, id: RequestId, error: unknown): void {
    if (error instanceof ApiError && error.code === "UPSTREAM_UNREACHABLE") {
      return this.#put(index, errorBytes(id, unreachable));
    }
    if (this.#isOver) return;
    this.abort();
    this.target.failed(error);
  }

  async #start(items: readonly RequestItem[]): Promise<void> {
    try {
      await this.input.admit(items.length);
    } catch (error) {
      if (!this.#isOver) this.target.failed(error);
      return;
    }
    if (this.#isOver) return;
    this.input.chargedChain(this.chain.id);
    this.#waiting = items.length;
    for (const [index, item] of items.entries()) {
      if (item.kind === "call") this.#begin(index, item);
      else this.#put(index, errorBytes(item.id, invalidRequest));
    }
  }

  #begin(index: number, item: ValidItem): void {
    const member = new Member(this, index, item.id);
    const run = new ItemRun(this.proxy, this.chain, item, this.input, member);
    this.#underWay.push(run.start());
  }

  #put(index: number, body: RpcBody): void {
    this.#bodies[index] = body;
    if (--this.#waiting > 0 || this.#isOver) return;
    this.#isOver = true;
    const source = [...this.#sources].sort().join(", ");
    const attempts = this.#attempts;
    this.target.answered({ status: 200, body: joinBatch(this.#bodies), attempts, source });
  }
}

/** One item's place in its batch. */
class Member implements RpcTarget {
  constructor(
    private readonly batch: BatchRun,
    private readonly index: number,
    private readonly id: RequestId,
  ) {}

  answered(answer: RpcOutput): void {
    this.batch.done(this.index, this.id, answer);
  }

  failed(error: unknown): void {
    this.batch.lost(this.index, this.id, error);
  }
}

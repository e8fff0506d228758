import type { Chain } from "../chains/index.ts";
import { ApiError } from "../lib/errors.ts";
import { type CallUnderWay, UpstreamUnavailableError } from "../upstream/index.ts";
import { type ItemAnswer, ItemRun, type ItemTarget } from "./itemRun.ts";
import type { ValidItem } from "./request.ts";
import type { Proxy, RpcInput, RpcTarget } from "./service.ts";

/** One request that is no batch. */
export class SingleRun implements ItemTarget {
  constructor(
    private readonly proxy: Proxy,
    private readonly chain: Chain,
    private readonly item: ValidItem,
    private readonly input: RpcInput,
    private readonly target: RpcTarget,
  ) {}

  start(): CallUnderWay {
    return new ItemRun(this.proxy, this.chain, this.item, this.input, this).start();
  }

  answered({ body, attempts, source }: ItemAnswer): void {
    this.target.answered({ status: 200, body, attempts, source: source || "local" });
  }

  failed(error: unknown): void {
    this.target.failed(error instanceof UpstreamUnavailableError ? unreachable(error) : error);
  }
}

function unreachable({ retryAfterMs }: UpstreamUnavailableError): ApiError {
  if (retryAfterMs === undefined) return new ApiError("UPSTREAM_UNREACHABLE");
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  return new ApiError("UPSTREAM_UNREACHABLE", undefined, { "retry-after": String(seconds) });
}

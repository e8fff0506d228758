import { type Admitted, admitItems } from "../access/index.ts";
import type { Chain } from "../chains/index.ts";
import type { CancelSignal } from "../lib/cancel.ts";
import type { ErrorCode } from "../lib/errors.ts";
import { JSON_FIELD, type PlainAnswer } from "../lib/http.ts";
import { errorBytes, invalidRequest } from "./answer.ts";
import type { RequestBody } from "./request.ts";
import type { RpcInput, RpcOutput, RpcService } from "./service.ts";

/** Where the proxy's path ends and the chain's id or name begins. */
export const RPC_PREFIX = "/api/public/rpc/";

/** A POST to the proxy that the gate let in, with its body. */
export interface HttpCall {
  /** Chain id in decimal or a network's name, as it stands in the path. */
  readonly segment: string;
  readonly body: Uint8Array;
  readonly passage: Admitted;
  /** Ends when the client hangs up. */
  readonly signal: CancelSignal;
}

/** Told how a call ended. */
export interface Replies {
  reply(answer: PlainAnswer): void;
  fail(error: unknown): void;
}

/** Answers a call, whichever server it came through. */
export function answerCall(service: RpcService, call: HttpCall, to: Replies): void {
  const { segment, body, passage, signal } = call;
  const chain = service.findChain(segment);
  const input = new GatedInput(chain, service.read(body), passage, signal);
  service.handle(input).then(
    (output) => to.reply(toAnswer(output)),
    (error) => (signal.aborted ? to.reply(gone()) : to.fail(error)),
  );
}

/** Answers POST to the proxy for a server of our own, which reads requests itself. */
export function directRpc(service: RpcService) {
  return {
    operation: "rpc" as const,
    prefix: RPC_PREFIX,
    answer: (call: HttpCall, to: Replies) => answerCall(service, call, to),
    tooLarge,
  };
}

/** Clients repeat a 413 unless its body is a JSON-RPC error. */
export function tooLarge(): PlainAnswer {
  return invalidRpc(413, "BODY_TOO_LARGE");
}

/** The answer to a caller who has left; it is only counted. */
export function gone(): PlainAnswer {
  return { status: 499, fields: "", errorCode: undefined, body: null };
}

/** The answer to what is no JSON-RPC request. */
export function invalidRpc(
  status: number,
  errorCode: ErrorCode = "INVALID_RPC_REQUEST",
): PlainAnswer {
  const fields = `${JSON_FIELD}x-error-code: ${errorCode}\r\n`;
  return { status, fields, errorCode, body: errorBytes("null", invalidRequest) };
}

/** A message to the proxy, counted and charged by the gate. */
class GatedInput implements RpcInput {
  constructor(
    readonly chain: Chain | undefined,
    readonly request: RequestBody,
    private readonly passage: Admitted,
    readonly signal: CancelSignal,
  ) {}

  get caller(): string {
    return this.passage.key.id;
  }

  admit(items: number): Promise<void> {
    return admitItems(this.passage, items);
  }

  chargedChain(chainId: number): void {
    this.passage.chainId = chainId;
  }
}

function toAnswer({ status, body, attempts, sources }: RpcOutput): PlainAnswer {
  const source = sources.join(", ") || "local";
  const fields = `${JSON_FIELD}x-upstream-attempts: ${attempts}\r\nx-upstream-source: ${source}\r\n`;
  if (status === 200) return { status, fields, errorCode: undefined, body };
  const errorCode = "INVALID_RPC_REQUEST";
  return { status, fields: `${fields}x-error-code: ${errorCode}\r\n`, errorCode, body };
}

import { type Admitted, admitItems } from "../access/index.ts";
import type { Chain } from "../chains/index.ts";
import type { ErrorCode } from "../lib/errors.ts";
import { JSON_FIELD, type PlainAnswer } from "../lib/http.ts";
import type { CallUnderWay } from "../upstream/index.ts";
import { errorBytes, invalidRequest } from "./answer.ts";
import { nullId, type RequestBody } from "./request.ts";
import type { RpcInput, RpcOutput, RpcService, RpcTarget } from "./service.ts";

/** Where the proxy's path ends and the chain's id or name begins. */
export const RPC_PREFIX = "/api/public/rpc/";

/** A POST to the proxy that the gate let in, with its body. */
export interface HttpCall {
  /** Chain id in decimal or a network's name, as it stands in the path. */
  readonly segment: string;
  readonly bytes: Uint8Array;
  /** Where the body begins; it ends with the bytes. */
  readonly bodyAt: number;
  readonly passage: Admitted;
}

/** Told how a call ended. */
export interface Replies {
  reply(answer: PlainAnswer): void;
  fail(error: unknown): void;
}

/** Answers a call, whichever server it came through. @returns what ends it when the caller leaves */
export function answerCall(service: RpcService, call: HttpCall, to: Replies): CallUnderWay {
  const run = new GatedRun(
    service.findChain(call.segment),
    service.read(call.bytes, call.bodyAt),
    call,
    to,
  );
  return service.start(run, run);
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
  return { status, fields, errorCode, body: errorBytes(nullId, invalidRequest) };
}

/** A message to the proxy, counted and charged by the gate, and its answer. */
class GatedRun implements RpcInput, RpcTarget {
  readonly #passage: Admitted;

  constructor(
    readonly chain: Chain | undefined,
    readonly request: RequestBody,
    { passage }: HttpCall,
    private readonly to: Replies,
  ) {
    this.#passage = passage;
  }

  get caller(): string {
    return this.#passage.key.id;
  }

  admit(items: number): Promise<void> {
    return admitItems(this.#passage, items);
  }

  chargedChain(chainId: number): void {
    this.#passage.chainId = chainId;
  }

  answered(output: RpcOutput): void {
    this.to.reply(toAnswer(output));
  }

  failed(error: unknown): void {
    this.to.fail(error);
  }
}

function toAnswer({ status, body, attempts, source }: RpcOutput): PlainAnswer {
  const fields = fieldsOf(attempts, source);
  if (status === 200) return { status, fields, errorCode: undefined, body };
  const errorCode = "INVALID_RPC_REQUEST";
  return { status, fields: `${fields}x-error-code: ${errorCode}\r\n`, errorCode, body };
}

/** Of the answers to single requests, as one text each: their number is small. */
const knownFields: Map<string, string>[] = [];
const MAX_KNOWN_ATTEMPTS = 8;
const MAX_KNOWN_SOURCES = 16;

function fieldsOf(attempts: number, source: string): string {
  if (attempts >= MAX_KNOWN_ATTEMPTS) return newFields(attempts, source);
  const known = (knownFields[attempts] ??= new Map());
  const found = known.get(source);
  if (found !== undefined) return found;
  const fields = newFields(attempts, source);
  if (known.size < MAX_KNOWN_SOURCES) known.set(source, fields);
  return fields;
}

function newFields(attempts: number, source: string): string {
  return `${JSON_FIELD}x-upstream-attempts: ${attempts}\r\nx-upstream-source: ${source || "local"}\r\n`;
}

import { nodeRpc } from "../rpc.ts";
import { lagAnswer, lagRequest } from "./lag.ts";
import {
  answerEach,
  errorAnswer,
  isBatch,
  messagesOf,
  type RpcAnswer,
  type RpcBody,
  type RpcMessage,
} from "./messages.ts";
import type { RateLimitForm } from "./model.ts";
import type { Hits } from "./script.ts";

type Body = string | Uint8Array<ArrayBuffer>;

/** What the node does with one request. */
export type Outcome =
  | {
      readonly kind: "respond";
      readonly status: number;
      readonly body: Body;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Announces the whole body, sends half of it and closes the connection. */
  | { readonly kind: "truncate"; readonly body: string | Uint8Array }
  | { readonly kind: "reset" }
  | { readonly kind: "hang" };

const HTML = { "content-type": "text/html" };
const JSON_TYPE = { "content-type": "application/json" };
const RATE_LIMIT_CODE = -32_005;
const RATE_LIMIT_TEXT = "rate limit exceeded: too many requests";

/**
 * The outcome of a fault that needs no answer from the chain; undefined when the request goes on.
 * @param body - the parsed request
 */
export function faultOutcome(hits: Hits, body: RpcBody): Outcome | undefined {
  if (hits.get("reset")) return { kind: "reset" };
  if (hits.get("hang")) return { kind: "hang" };
  if (hits.get("garbage")) return respond("\u0000\u0001{]not json", 200, JSON_TYPE);
  const status = hits.get("status");
  if (status) return statusOutcome(status.status, status.body ?? "json", body);
  const limit = hits.get("rateLimit") ?? hits.get("rateCap");
  if (limit) return rateLimitOutcome(limit.as ?? "status", limit.retryAfterSeconds, body);
  const error = hits.get("rpcError");
  if (!error) return undefined;
  const { code, message, data } = error;
  return respondJson(answerEach(body, (request) => errorAnswer(request, code, message, data)));
}

/**
 * Gets the answer from the chain and bends it as the faults say.
 * @param target - URL of the chain
 * @param text - the request body as received
 */
export async function forwardOutcome(
  hits: Hits,
  target: string,
  text: string,
  body: RpcBody,
): Promise<Outcome> {
  const answer = bends(hits)
    ? JSON.stringify(await bentAnswer(hits, target, body))
    : await post(target, text);
  return hits.get("truncate")
    ? { kind: "truncate", body: answer }
    : respond(answer, 200, JSON_TYPE);
}

function bends(hits: Hits): boolean {
  return hits.kinds().some((kind) => kind !== "delay" && kind !== "truncate");
}

async function bentAnswer(hits: Hits, target: string, body: RpcBody): Promise<unknown> {
  const lag = hits.get("lag");
  const limit = hits.get("rateLimit") ?? hits.get("rateCap");
  const head = lag ? await headBehind(target, lag.blocks) : undefined;
  const answers = await Promise.all(
    messagesOf(body).map(async (message, index) => {
      if (limit && index % 2 === 0) return rateLimitAnswer(message);
      const answer = wrongChainAnswer(hits, message) ?? (await laggedCall(target, message, head));
      return hits.get("wrongId") ? withWrongId(answer) : answer;
    }),
  );
  return body !== undefined && isBatch(body)
    ? bendBatch(hits, answers)
    : (answers[0] ?? errorAnswer({}, -32_700, "parse error"));
}

function bendBatch(hits: Hits, answers: RpcAnswer[]): unknown {
  const form = hits.get("batch")?.as;
  if (form === "reversed") return answers.toReversed();
  if (form === "missing") return answers.slice(0, -1);
  if (form === "singleError") return errorAnswer({}, -32_600, "batch not supported");
  return answers;
}

async function laggedCall(
  target: string,
  message: RpcMessage,
  head: bigint | undefined,
): Promise<RpcAnswer> {
  if (head === undefined) return postMessage(target, message);
  const lagged = lagRequest(message, head);
  if ("answer" in lagged) return lagged.answer;
  return lagAnswer(message, await postMessage(target, lagged.forward), head);
}

function wrongChainAnswer(hits: Hits, message: RpcMessage): RpcAnswer | undefined {
  const chainId = hits.get("wrongChain")?.chainId;
  if (chainId === undefined) return undefined;
  const answer = (result: string) => ({ jsonrpc: "2.0", id: message.id, result });
  if (message.method === "eth_chainId") return answer(`0x${chainId.toString(16)}`);
  return message.method === "net_version" ? answer(String(chainId)) : undefined;
}

async function headBehind(target: string, blocks: number): Promise<bigint> {
  const head = BigInt(String(await nodeRpc(target).call("eth_blockNumber")));
  return head > BigInt(blocks) ? head - BigInt(blocks) : 0n;
}

function withWrongId(answer: RpcAnswer): RpcAnswer {
  const { id } = answer;
  return { ...answer, id: typeof id === "number" ? id + 1_000_000 : 1_000_000 };
}

function rateLimitOutcome(
  form: RateLimitForm,
  retryAfterSeconds: number | undefined,
  body: RpcBody,
): Outcome | undefined {
  // Half of the batch is answered by the chain.
  if (form === "batchItems" && body !== undefined && isBatch(body)) return undefined;
  const headers = {
    ...JSON_TYPE,
    ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
  };
  const answer = JSON.stringify(answerEach(body, rateLimitAnswer));
  return respond(answer, form === "status" ? 429 : 200, headers);
}

function rateLimitAnswer(message: RpcMessage): RpcAnswer {
  return errorAnswer(message, RATE_LIMIT_CODE, RATE_LIMIT_TEXT);
}

function statusOutcome(status: number, form: "json" | "html" | "empty", body: RpcBody): Outcome {
  if (form === "empty") return respond("", status);
  if (form === "html") {
    return respond(`<html><body><h1>${status} upstream error</h1></body></html>`, status, HTML);
  }
  const answer = answerEach(body, (message) =>
    errorAnswer(message, -32_000, "internal node error"),
  );
  return respond(JSON.stringify(answer), status, JSON_TYPE);
}

function respondJson(body: unknown): Outcome {
  return respond(JSON.stringify(body), 200, JSON_TYPE);
}

function respond(
  body: Body,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): Outcome {
  return { kind: "respond", status, body, headers };
}

const FORWARD_TIMEOUT_MS = 120_000;

async function post(target: string, body: string): Promise<Body> {
  const response = await fetch(target, {
    method: "POST",
    headers: JSON_TYPE,
    body,
    signal: AbortSignal.timeout(FORWARD_TIMEOUT_MS),
  });
  return response.bytes();
}

async function postMessage(target: string, message: RpcMessage): Promise<RpcAnswer> {
  return JSON.parse(Buffer.from(await post(target, JSON.stringify(message))).toString());
}

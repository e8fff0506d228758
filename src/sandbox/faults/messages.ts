/** A JSON-RPC request as a node receives it; nothing about it is certain. */
export interface RpcMessage {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

/** A JSON-RPC reply. */
export interface RpcAnswer {
  readonly jsonrpc?: string;
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** A parsed request body: one message or a batch; undefined when it is neither. */
export type RpcBody = RpcMessage | readonly RpcMessage[] | undefined;

/** Parses a request body. */
export function parseBody(text: string): RpcBody {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null ? body : undefined;
  } catch {
    return undefined;
  }
}

/** The messages of a body in their order. */
export function messagesOf(body: RpcBody): readonly RpcMessage[] {
  if (body === undefined) return [];
  return isBatch(body) ? body : [body];
}

/** The names of the methods asked for. */
export function methodsOf(body: RpcBody): string[] {
  return messagesOf(body).map(({ method }) => (typeof method === "string" ? method : "invalid"));
}

/** Whether a body is a batch. */
export function isBatch<Item>(body: Item | readonly Item[]): body is readonly Item[] {
  return Array.isArray(body);
}

/** A JSON-RPC error as the answer to `message`. */
export function errorAnswer(
  message: RpcMessage,
  code: number,
  text: string,
  data?: unknown,
): RpcAnswer {
  const error = { code, message: text, ...(data !== undefined && { data }) };
  return { jsonrpc: "2.0", id: message.id ?? null, error };
}

/** Answers every message of a body in the body's own form. */
export function answerEach(
  body: RpcBody,
  answer: (message: RpcMessage, index: number) => RpcAnswer,
): RpcAnswer | RpcAnswer[] {
  if (body === undefined) return answer({}, 0);
  return isBatch(body) ? body.map(answer) : answer(body, 0);
}

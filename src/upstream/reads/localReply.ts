import type { NodeReply } from "../dispatch.ts";

/** Upstream named by answers the service gives itself. */
const SELF = "causeway";
const PREFIX = '{"jsonrpc":"2.0","id":0,';
const ID_AT = PREFIX.lastIndexOf("0");

const encoder = new TextEncoder();

/** A result that the service knows itself. @param result - any JSON value */
export function localResult(result: unknown): NodeReply {
  return compose("result", result);
}

/** An error that no repetition changes; clients do not repeat this code on their own. */
export function permanentError(message: string): NodeReply {
  return compose("error", { code: -32_602, message });
}

function compose(member: "result" | "error", value: unknown): NodeReply {
  const head = `${PREFIX}"${member}":`;
  const text = JSON.stringify(value);
  const bytes = encoder.encode(`${head}${text}}`);
  const id = { start: ID_AT, end: ID_AT + 1 };
  const span = { start: head.length, end: bytes.length - 1 };
  const isError = member === "error";
  const answer = isError
    ? { bytes, id, result: undefined, error: span }
    : { bytes, id, result: span, error: undefined };
  const costs = { attempts: 0, hedged: false, retried: false };
  return { bytes, id, isError, upstream: SELF, source: "local", ...costs, answer };
}

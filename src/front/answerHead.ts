import { STATUS_CODES } from "node:http";
import type { PlainAnswer } from "../lib/http.ts";

const statusLines = new Map<number, string>();

/** The status line; statuses are those of the error catalogue and few more. */
function statusLine(status: number): string {
  const known = statusLines.get(status);
  if (known) return known;
  const line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Unknown"}\r\n`;
  statusLines.set(status, line);
  return line;
}

/**
 * The head of an answer, as text in ASCII.
 * @param date - value of `Date`
 */
export function answerHead({ status, fields, body }: PlainAnswer, date: string): string {
  const length = byteLength(body);
  return `${statusLine(status)}${fields}date: ${date}\r\ncontent-length: ${length}\r\n\r\n`;
}

function byteLength(body: PlainAnswer["body"]): number {
  if (body === null) return 0;
  return typeof body === "string" ? Buffer.byteLength(body) : body.length;
}

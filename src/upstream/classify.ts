import type { Clock } from "../lib/clock.ts";
import { digitsAt, type Span, valueOf } from "../lib/jsonSpan.ts";
import type { ConnectionFault, HttpAnswer } from "./connection.ts";
import { AnswerScanner, isNull, type NodeAnswer } from "./nodeAnswer.ts";
import {
  executionText,
  finalCodes,
  missingDataText,
  rangeLimitText,
  rateLimitCodes,
  rateLimitText,
  troubleCodes,
  troubleText,
  unsupportedCodes,
  unsupportedText,
} from "./nodeErrors.ts";

/** Why an attempt gave nothing to pass on; a stable word for metrics and logs. */
export type RetryReason =
  | Exclude<ConnectionFault, "aborted">
  | "timeout"
  | "busy"
  | "server-error"
  | "malformed"
  | "wrong-id"
  | "node-error"
  | "missing-data"
  | "unsupported-method";

/** What a node's error tells, as far as rules look at it. */
export interface NodeError {
  readonly code: number | undefined;
  /** Message and textual data in lower case. */
  readonly text: string;
  readonly hasData: boolean;
}

/** What an error means by a rule of one family of chains. */
export type ErrorJudgement =
  | { readonly kind: "deliver" }
  | { readonly kind: "retry"; readonly reason: RetryReason; readonly fault: boolean };

/** The rules of a family of chains; undefined leaves an error to the common ones. */
export type JudgeError = (error: NodeError) => ErrorJudgement | undefined;

/**
 * What an attempt's outcome means:
 * - deliver: the caller's answer, success or error;
 * - retry: ask another upstream; `fault` tells whether it counts against this one, and `answer` is
 *   what to deliver if no other does better;
 * - limited: the upstream asks for less pace;
 * - reject: the upstream refuses us altogether (credentials, plan, moved);
 * - aborted: we gave up ourselves, which says nothing.
 */
export type Verdict =
  | { readonly kind: "deliver"; readonly answer: NodeAnswer }
  | {
      readonly kind: "retry";
      readonly reason: RetryReason;
      readonly fault: boolean;
      readonly answer?: NodeAnswer;
    }
  | { readonly kind: "limited"; readonly retryAfterMs: number | undefined }
  | { readonly kind: "reject"; readonly reason: "refused" | "redirect" }
  | { readonly kind: "aborted" };

/** Classifies an exchange that ended without a complete HTTP answer. */
export function classifyFault(fault: ConnectionFault | "timeout"): Verdict {
  if (fault === "aborted") return { kind: "aborted" };
  if (fault === "redirect") return { kind: "reject", reason: "redirect" };
  return { kind: "retry", reason: fault, fault: fault !== "too-large" && fault !== "no-memory" };
}

/**
 * Classifies a complete HTTP answer. A JSON-RPC response counts whatever the status it came with,
 * except where the status is about us and not about the call.
 * @param id - the id the request carried
 * @param clock - its wall-clock time counts for a `Retry-After` that names a date
 * @param judge - asked about errors before the common rules
 */
export function classifyAnswer(
  http: HttpAnswer,
  id: number,
  clock: Pick<Clock, "now">,
  judge?: JudgeError,
): Verdict {
  const { status } = http;
  const answer = status === 429 ? undefined : (http.answer ?? readAnswer(http.bytes));
  if (answer && !answer.error && status < 300) {
    return isOurId(answer, id, http.isShared ? "exact" : "result")
      ? { kind: "deliver", answer }
      : wrongId;
  }
  const nowMs = clock.now();
  if (status === 429) return { kind: "limited", retryAfterMs: parseRetryAfter(http, nowMs) };
  if (!answer) return classifyStatus(http, nowMs);
  if (answer.error) {
    const verdict = classifyError(answer, http, nowMs, judge);
    // These bodies speak about the operator's credentials; they are never passed on.
    const aboutUs = status === 401 || status === 402 || status === 403;
    if (aboutUs && verdict.kind !== "limited") return { kind: "reject", reason: "refused" };
    // Whoever was refused for pace need not be named.
    if (verdict.kind === "limited") return verdict;
    return isOurId(answer, id, http.isShared ? "exact" : "error") ? verdict : wrongId;
  }
  if (!isOurId(answer, id, http.isShared ? "exact" : "result")) return wrongId;
  return classifyStatus(http, nowMs);
}

const wrongId: Verdict = { kind: "retry", reason: "wrong-id", fault: true };

const scanner = new AnswerScanner();

/** A response object with a result or an error, or undefined when the bytes are not one. */
function readAnswer(bytes: Uint8Array): NodeAnswer | undefined {
  return scanner.scan(bytes) ? scanner.answerIn(bytes) : undefined;
}

/**
 * Nodes answer with the id we sent, as a number or as text; on errors some send null or none. Only
 * the answer to a batch must name it, or it may be another item's.
 */
function isOurId(answer: NodeAnswer, id: number, need: "exact" | "result" | "error"): boolean {
  const { bytes, id: span } = answer;
  if (!span) return need !== "exact";
  if (isNull(bytes, span)) return need === "error";
  if (digitsAt(bytes, span.start, span.end) === id) return true;
  const value = valueOf(bytes, span);
  return value === id || value === String(id);
}

function classifyStatus(http: HttpAnswer, nowMs: number): Verdict {
  const { status } = http;
  if (status === 402) return { kind: "limited", retryAfterMs: parseRetryAfter(http, nowMs) };
  if (status === 503 && http.retryAfter !== null) {
    return { kind: "limited", retryAfterMs: parseRetryAfter(http, nowMs) };
  }
  if (status === 401 || status === 403 || status === 404 || status === 405 || status === 410) {
    return { kind: "reject", reason: "refused" };
  }
  const reason = status >= 400 ? "server-error" : "malformed";
  return { kind: "retry", reason, fault: true };
}

/** Longest error text looked at; revert data may be far longer and says nothing here. */
const MAX_TEXT = 2_048;

function readError(answer: NodeAnswer, span: Span): NodeError {
  const value = valueOf(answer.bytes, span);
  if (typeof value === "string") {
    return { code: undefined, text: value.slice(0, MAX_TEXT).toLowerCase(), hasData: false };
  }
  if (typeof value !== "object" || value === null) {
    return { code: undefined, text: "", hasData: false };
  }
  const { code, message, data } = value as { code?: unknown; message?: unknown; data?: unknown };
  const details = typeof data === "string" && !data.startsWith("0x") ? data : "";
  const text = `${typeof message === "string" ? message : ""} ${details}`;
  return {
    code: Number.isInteger(Number(code)) ? Number(code) : undefined,
    text: text.slice(0, MAX_TEXT).toLowerCase(),
    hasData: typeof data === "string" && data.startsWith("0x"),
  };
}

/** Decides on the error object alone; the order of the rules is from certain to likely. */
function classifyError(
  answer: NodeAnswer,
  http: HttpAnswer,
  nowMs: number,
  judge: JudgeError | undefined,
): Verdict {
  const deliver: Verdict = { kind: "deliver", answer };
  if (!answer.error) return deliver;
  const error = readError(answer, answer.error);
  const judgement = judge?.(error);
  if (judgement) return { ...judgement, answer };
  const { code, text, hasData } = error;

  if (code !== undefined && rateLimitCodes.has(code)) {
    return { kind: "limited", retryAfterMs: parseRetryAfter(http, nowMs) };
  }
  if (hasData || executionText.test(text)) return deliver;
  if (rateLimitText.test(text) && !rangeLimitText.test(text)) {
    return { kind: "limited", retryAfterMs: parseRetryAfter(http, nowMs) };
  }
  const retry = (reason: RetryReason, fault: boolean): Verdict => ({
    kind: "retry",
    reason,
    fault,
    answer,
  });
  if (rangeLimitText.test(text)) return retry("missing-data", false);
  if (code !== undefined && finalCodes.has(code)) return deliver;
  if (code !== undefined && unsupportedCodes.has(code)) return retry("unsupported-method", false);
  if (unsupportedText.test(text)) return retry("unsupported-method", false);
  if (missingDataText.test(text)) return retry("missing-data", false);
  const inTrouble = code === undefined || troubleCodes.has(code) || troubleText.test(text);
  return inTrouble || http.status >= 500 ? retry("node-error", true) : deliver;
}

/**
 * Wait asked for by `Retry-After`, in ms: seconds or an HTTP date (RFC 9110, section 10.2.3).
 * @returns undefined when absent or not understood
 */
export function parseRetryAfter(
  answer: Pick<HttpAnswer, "retryAfter">,
  nowMs: number,
): number | undefined {
  const text = answer.retryAfter?.trim();
  if (!text) return undefined;
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1_000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

import { ApiError } from "../lib/errors.ts";
import { errorAnswer, type PlainAnswer, toResponse } from "../lib/http.ts";
import type { Logger } from "../telemetry/index.ts";
import { UpstreamUnavailableError } from "../upstream/types.ts";
import { type Passage, passageOf } from "./admission.ts";
import { conclude } from "./answer.ts";
import { type RequestHead, RuntimeHead } from "./head.ts";

/** What failed, and of which request. */
interface Failure {
  readonly error: unknown;
  /** The framework's word for what it threw itself. */
  readonly code: string | number;
  readonly head: Pick<RequestHead, "method" | "path">;
  /** undefined: it failed before it came to the gate. */
  readonly passage: Passage | undefined;
}

/**
 * Makes the one place that turns what was thrown into an answer. Only `ApiError` speaks to the
 * caller; what else is thrown is logged and answers 500.
 */
export function createErrorAnswers(log: Logger): (failure: Failure) => PlainAnswer {
  return ({ error, code, head, passage }) => {
    const known = toApiError(error, code);
    if (known.code === "INTERNAL") {
      const { method, path } = head;
      log.error({ requestId: passage?.requestId, method, path, error }, "request failed");
    }
    const answer = errorAnswer(known);
    // RFC 9110 §15.5.2 asks for it on every 401.
    if (answer.status === 401) answer.fields += "www-authenticate: Bearer\r\n";
    if (passage) {
      passage.release();
      conclude(passage, answer, known.message);
    }
    return answer;
  };
}

/** The framework's root error handler. */
export function errorHandler(log: Logger) {
  const answerTo = createErrorAnswers(log);
  return (failed: { error: unknown; code: string | number; request: Request }) => {
    const { error, code, request } = failed;
    const passage = passageOf(request);
    const head = new RuntimeHead(request);
    return toResponse(answerTo({ error, code, head, passage }));
  };
}

function toApiError(error: unknown, code: string | number): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof UpstreamUnavailableError) return new ApiError("UPSTREAM_UNREACHABLE");
  if (code === "NOT_FOUND") return new ApiError("ROUTE_NOT_FOUND");
  if (code === "PARSE") return new ApiError("INVALID_JSON");
  if (code === "VALIDATION") return new ApiError("INVALID_FIELD");
  return new ApiError("INTERNAL");
}

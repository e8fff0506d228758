import { ApiError } from "../lib/errors.ts";
import { errorResponse } from "../lib/http.ts";
import type { Logger } from "../telemetry/index.ts";
import { UpstreamUnavailableError } from "../upstream/types.ts";
import { noteFailure, passageOf } from "./admission.ts";
import { release, writeHeaders } from "./answer.ts";

/**
 * The root error handler: the one place that turns what was thrown into an answer. Only
 * `ApiError` speaks to the caller; what else is thrown is logged and answers 500.
 */
export function errorHandler(log: Logger) {
  return ({
    error,
    code,
    request,
  }: {
    error: unknown;
    code: string | number;
    request: Request;
  }) => {
    const passage = passageOf(request);
    const answer = toApiError(error, code);
    if (answer.code === "INTERNAL") {
      const { pathname } = new URL(request.url);
      const fields = { requestId: passage?.requestId, method: request.method, path: pathname };
      log.error({ ...fields, error }, "request failed");
    }
    const response = errorResponse(answer);
    // RFC 9110 §15.5.2 asks for it on every 401.
    if (answer.status === 401) response.headers.set("www-authenticate", "Bearer");
    if (passage) {
      release(passage);
      passage.observe(passage.operation, answer.status);
      noteFailure(passage, request, answer);
      writeHeaders(passage, (name, value) => response.headers.set(name, value));
    }
    return response;
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

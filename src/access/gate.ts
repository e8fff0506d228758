import { Elysia, ElysiaCustomStatusResponse, StatusMap } from "elysia";
import type { Config } from "../config/index.ts";
import { clientOf, peerAddress } from "../lib/client.ts";
import { ApiError, isErrorCode } from "../lib/errors.ts";
import type { Access } from "./access.ts";
import { noteFailure, openPassage, passageOf, type RequestObserver } from "./admission.ts";
import { settled, writeHeaders } from "./answer.ts";
import { API_PREFIX, createChecks } from "./checks.ts";

/**
 * The gate in front of every route. It decides before the body is read, cheapest and least
 * revealing first: HTTPS, key, rate window, path and method, scope, allowance. After the handler
 * it charges the answer and adds the headers. Must be used before any route is registered.
 * @param observer - told of every answer, such as `Metrics.request`
 */
export function gate(access: Access, config: Config, observer: RequestObserver = () => {}) {
  const check = createChecks(access, config);
  return new Elysia({ name: "gate" })
    .onRequest(async ({ request, server }) => {
      const passage = openPassage(request, access, observer);
      await check(passage, () => peerAddress(server, request));
    })
    .onTransform({ as: "global" }, ({ request, route }) => {
      // A path the router reads differently than the gate must not open a route.
      const isOpen = !route.startsWith(API_PREFIX) || passageOf(request)?.operation !== undefined;
      if (!isOpen) throw new ApiError("INVALID_API_KEY");
    })
    .onAfterHandle({ as: "global" }, async ({ request, responseValue, set }) => {
      const passage = passageOf(request);
      if (!passage) return;
      const status = statusOf(responseValue, set.status ?? 200);
      const client = clientOf(request);
      await settled(passage, status, (client ?? request.signal).aborted);
      passage.observe(status);
      const headers = responseValue instanceof Response ? responseValue.headers : undefined;
      const code = headers?.get("x-error-code");
      if (isErrorCode(code)) noteFailure(passage, { status, code });
      if (client) client.more = passage;
      else if (headers) writeHeaders(passage, (name, value) => headers.set(name, value));
      else writeHeaders(passage, (name, value) => (set.headers[name] = value));
    });
}

/** The status an answer will have: a handler's `Response` brings its own, whatever was set. */
function statusOf(answer: unknown, set: number | keyof StatusMap): number {
  if (answer instanceof Response) return answer.status;
  if (answer instanceof ElysiaCustomStatusResponse) return answer.code;
  return typeof set === "number" ? set : StatusMap[set];
}

import { Elysia, ElysiaCustomStatusResponse, StatusMap } from "elysia";
import type { Config } from "../config/index.ts";
import { ApiError, isErrorCode } from "../lib/errors.ts";
import type { Access } from "./access.ts";
import {
  holdUnits,
  noteFailure,
  openPassage,
  type Passage,
  passageOf,
  type RequestObserver,
  takeFromWindow,
} from "./admission.ts";
import { settle, writeHeaders } from "./answer.ts";
import type { ApiKey } from "./keys.ts";
import {
  clientAddress,
  isForwardedHttps,
  isInBlocks,
  isLoopbackHost,
  type Origin,
  originOf,
  parseBlocks,
} from "./network.ts";
import {
  matchPath,
  type Operation,
  operations,
  type Scope,
  UPGRADE,
  type OperationId,
} from "./operations.ts";
import { isUpgrade, presentedKey } from "./presentedKey.ts";

/** Paths of the process itself, which probes and scrapers reach without TLS. */
const plainPaths: ReadonlySet<string> = new Set(["/health", "/ready", "/metrics"]);
const API_PREFIX = "/api/public";

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
      await check(request, passage, () => server?.requestIP(request)?.address);
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
      await settle(passage, status, request.signal.aborted);
      passage.observe(passage.operation, status);
      if (responseValue instanceof Response) {
        const { headers } = responseValue;
        const code = headers.get("x-error-code");
        if (isErrorCode(code)) noteFailure(passage, request, { status, code });
        writeHeaders(passage, (name, value) => headers.set(name, value));
      } else {
        writeHeaders(passage, (name, value) => (set.headers[name] = value));
      }
    });
}

/** The status an answer will have: a handler's `Response` brings its own, whatever was set. */
function statusOf(answer: unknown, set: number | keyof StatusMap): number {
  if (answer instanceof Response) return answer.status;
  if (answer instanceof ElysiaCustomStatusResponse) return answer.code;
  return typeof set === "number" ? set : StatusMap[set];
}

/**
 * Makes the checks before a request is handled; they throw what it is refused with, and note in
 * its passage who calls and what for. Where nothing has to be waited for, nothing is: each pause
 * costs as much as a check. A router that knows the operation says so, and its path is not read.
 */
export function createChecks(access: Access, config: Config) {
  const { listen } = config;
  const trustedProxies = parseBlocks(listen.trustedProxies);
  const isAlwaysSecure = listen.tls !== undefined || isLoopbackHost(listen.host);

  const isFromAllowedAddress = (key: ApiKey, origin: () => Origin) =>
    key.ipAllowList.length === 0 ||
    isInBlocks(clientAddress(origin(), trustedProxies), parseBlocks(key.ipAllowList));

  return async (
    request: Request,
    passage: Passage,
    peer: () => string | undefined,
    known?: OperationId,
  ) => {
    const path = known === undefined ? pathOf(request.url) : operations[known].path;
    if (plainPaths.has(path)) return;
    const origin = () => originOf(request, peer());
    if (!isAlwaysSecure && !isForwardedHttps(origin(), trustedProxies)) {
      throw new ApiError("HTTPS_REQUIRED");
    }
    if (!isUnderApi(path)) return;

    const method = isUpgrade(request) ? UPGRADE : request.method;
    const secret = presentedKey(request.headers, method === UPGRADE);
    const found = secret === undefined ? undefined : access.keys.verify(secret);
    const key = found instanceof Promise ? await found : found;
    if (!key || !isFromAllowedAddress(key, origin)) throw new ApiError("INVALID_API_KEY");
    passage.key = key;
    passage.secret = secret;
    access.activity.used(key.id);
    const taking = takeFromWindow(passage, key, 1);
    if (taking) await taking;

    const operation = known ?? operationOf(path, method);
    const { scope, cu }: Operation = operations[operation];
    if (!hasScope(key, scope)) {
      throw new ApiError(
        "SCOPE_REQUIRED",
        `Scope '${scope}' is required for this endpoint. Granted scopes: ${key.scopes.join(", ")}.`,
      );
    }
    const holding = holdUnits(passage, key, cu);
    if (holding) await holding;
    if (method === UPGRADE) {
      const opened = origin();
      passage.mayStayOpen = (now) =>
        hasScope(now, scope) && isFromAllowedAddress(now, () => opened);
    }
    passage.operation = operation;
  };
}

function hasScope(key: ApiKey, scope: Scope | undefined): boolean {
  return scope === undefined || key.scopes.includes(scope);
}

/** The path of a request's absolute URL, without the query. */
function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  if (start === -1) return "/";
  const query = url.indexOf("?", start);
  return query === -1 ? url.slice(start) : url.slice(start, query);
}

function isUnderApi(path: string): boolean {
  return path === API_PREFIX || path.startsWith(`${API_PREFIX}/`);
}

/** @throws ApiError `ROUTE_NOT_FOUND`, `METHOD_NOT_ALLOWED` */
function operationOf(path: string, method: string) {
  const match = matchPath(path);
  if (!match) throw new ApiError("ROUTE_NOT_FOUND");
  const read = method === "HEAD" || method === UPGRADE ? "GET" : method;
  const operation = match.byMethod.get(method) ?? match.byMethod.get(read);
  if (operation !== undefined) return operation;
  const allowed = [...match.byMethod.keys()]
    .filter((name) => name !== UPGRADE)
    .flatMap((name) => (name === "GET" ? ["GET", "HEAD"] : [name]));
  throw new ApiError("METHOD_NOT_ALLOWED", undefined, { allow: allowed.join(", ") });
}

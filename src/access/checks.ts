import type { Config } from "../config/index.ts";
import type { Awaitable } from "../db/index.ts";
import { ApiError } from "../lib/errors.ts";
import type { Access } from "./access.ts";
import { holdUnits, type Passage, takeFromWindow } from "./admission.ts";
import type { RequestHead } from "./head.ts";
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
import { isUpgrade } from "./presentedKey.ts";

/** Paths of the process itself, which probes and scrapers reach without TLS. */
const plainPaths: ReadonlySet<string> = new Set(["/health", "/ready", "/metrics"]);
/** Where the API begins. */
export const API_PREFIX = "/api/public";

/** Address of the other end of a request's connection; asked only where it matters. */
export type PeerLookUp = () => string | undefined;

/**
 * Checks a request before it is handled: notes in its passage who calls and what for.
 * @param known - the operation, where a router knows it, so that its path is not read
 * @throws ApiError what it is refused with; where something had to be waited for, it rejects
 */
export type Check = (passage: Passage, peer: PeerLookUp, known?: OperationId) => Awaitable<void>;

/**
 * Makes the checks. Where nothing has to be waited for, nothing is: each pause costs as much as a
 * check.
 */
export function createChecks(access: Access, config: Config): Check {
  const { listen } = config;
  const trustedProxies = parseBlocks(listen.trustedProxies);
  const isAlwaysSecure = listen.tls !== undefined || isLoopbackHost(listen.host);

  const isAllowedFrom = (key: ApiKey, origin: Origin) =>
    isInBlocks(clientAddress(origin, trustedProxies), parseBlocks(key.ipAllowList));

  const enter = (
    passage: Passage,
    key: ApiKey | undefined,
    peer: PeerLookUp,
    known: OperationId | undefined,
  ): Awaitable<void> => {
    if (!key) throw new ApiError("INVALID_API_KEY");
    const isBound = key.ipAllowList.length > 0;
    if (isBound && !isAllowedFrom(key, originOf(passage.head, peer()))) {
      throw new ApiError("INVALID_API_KEY");
    }
    passage.key = key;
    access.activity.used(key.id);
    const taking = takeFromWindow(passage, key, 1);
    if (taking) return taking.then(() => letIn(passage, key, peer, known));
    return letIn(passage, key, peer, known);
  };

  const letIn = (
    passage: Passage,
    key: ApiKey,
    peer: PeerLookUp,
    known: OperationId | undefined,
  ): Awaitable<void> => {
    const { head } = passage;
    const method = known === undefined && isUpgrade(head) ? UPGRADE : head.method;
    const operation = known ?? operationOf(head.path, method);
    const { scope, cu }: Operation = operations[operation];
    if (!hasScope(key, scope)) {
      throw new ApiError(
        "SCOPE_REQUIRED",
        `Scope '${scope}' is required for this endpoint. Granted scopes: ${key.scopes.join(", ")}.`,
      );
    }
    if (method === UPGRADE) {
      const opened = originOf(head, peer());
      passage.mayStayOpen = (now) =>
        hasScope(now, scope) && (now.ipAllowList.length === 0 || isAllowedFrom(now, opened));
    }
    const holding = holdUnits(passage, key, cu);
    if (holding) return holding.then(() => void (passage.operation = operation));
    passage.operation = operation;
  };

  const isSecure = (head: RequestHead, peer: PeerLookUp) =>
    isAlwaysSecure || isForwardedHttps(originOf(head, peer()), trustedProxies);

  return (passage, peer, known) => {
    const { head } = passage;
    const path = known === undefined ? head.path : operations[known].path;
    if (plainPaths.has(path)) return;
    if (!isSecure(head, peer)) throw new ApiError("HTTPS_REQUIRED");
    if (!isUnderApi(path)) return;
    const { shown } = head;
    const key = shown && access.keys.verifyShown(shown);
    if (key instanceof Promise) return key.then((found) => enter(passage, found, peer, known));
    return enter(passage, key, peer, known);
  };
}

function isUnderApi(path: string): boolean {
  return path === API_PREFIX || path.startsWith(`${API_PREFIX}/`);
}

function hasScope(key: ApiKey, scope: Scope | undefined): boolean {
  return scope === undefined || key.scopes.includes(scope);
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

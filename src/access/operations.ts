/** What a key may be allowed to do. `quotes` can be granted, but no endpoint asks for it. */
export const scopes = ["quotes", "swaps", "bridges", "read"] as const;
export type Scope = (typeof scopes)[number];

/** A metered endpoint of the public API. */
export interface Operation {
  readonly method: "GET" | "POST";
  /** Path pattern; `{name}` stands for one path segment. */
  readonly path: string;
  /** Scope a key needs; undefined: any valid key. */
  readonly scope: Scope | undefined;
  /** Compute units charged for a 2xx answer (per item for RPC batches). */
  readonly cu: number;
  /** Whether the path also takes WebSocket upgrades; each message then counts as a request. */
  readonly socket?: boolean;
}

/** Every endpoint behind the gate: the one source of scopes, prices and allowed methods. */
export const operations = {
  quote: { method: "POST", path: "/api/public/swap/quote", scope: "swaps", cu: 2 },
  "build-tx": { method: "POST", path: "/api/public/swap/build-tx", scope: "swaps", cu: 3 },
  dexes: { method: "GET", path: "/api/public/swap/dexes", scope: "read", cu: 1 },
  prices: { method: "GET", path: "/api/public/prices", scope: "read", cu: 1 },
  balance: { method: "POST", path: "/api/public/wallet/balance", scope: "read", cu: 1 },
  rpc: { method: "POST", path: "/api/public/rpc/{chainId}", scope: "read", cu: 1, socket: true },
  bridge: { method: "POST", path: "/api/public/bridge", scope: "bridges", cu: 5 },
  "bridge-status": {
    method: "GET",
    path: "/api/public/bridge/{transactionHash}",
    scope: "bridges",
    cu: 1,
  },
  usage: { method: "GET", path: "/api/public/usage", scope: undefined, cu: 0 },
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof operations;

interface PathMatch {
  /** Operations on this path, by method; a WebSocket upgrade counts as one. */
  readonly byMethod: ReadonlyMap<string, OperationId>;
}

/** The method under which the table has upgrades; no request line can carry it. */
export const UPGRADE = "websocket upgrade";

const exact = new Map<string, Map<string, OperationId>>();
const prefixed = new Map<string, Map<string, OperationId>>();
for (const [id, operation] of Object.entries(operations) as [OperationId, Operation][]) {
  const brace = operation.path.indexOf("{");
  const table = brace === -1 ? exact : prefixed;
  const key = brace === -1 ? operation.path : operation.path.slice(0, brace);
  const methods = table.get(key) ?? new Map<string, OperationId>();
  methods.set(operation.method, id);
  if (operation.socket) methods.set(UPGRADE, id);
  table.set(key, methods);
}

/** The operations on a request path, or undefined when the path is none of the API's. */
export function matchPath(path: string): PathMatch | undefined {
  const trimmed = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
  const direct = exact.get(trimmed);
  if (direct) return { byMethod: direct };
  const slash = trimmed.lastIndexOf("/");
  const methods =
    slash < trimmed.length - 1 ? prefixed.get(trimmed.slice(0, slash + 1)) : undefined;
  return methods && { byMethod: methods };
}

import { Value } from "@sinclair/typebox/value";
import type { Sealer } from "../access/index.ts";
import type { ChainRegistry } from "../chains/index.ts";
import { type UpstreamData, UpstreamSchema } from "../config/index.ts";
import type { AuditStore, UpstreamChangeStore } from "../db/index.ts";
import type { Clock } from "../lib/clock.ts";
import { ApiError, type ErrorCode } from "../lib/errors.ts";
import {
  type LineupChange,
  upstreamId,
  type UpstreamPool,
  type UpstreamRefusal,
  UpstreamRefusedError,
  type UpstreamStatus,
} from "../upstream/index.ts";

export interface UpstreamAdminOptions {
  readonly pool: UpstreamPool;
  /** As configured, without changes made at run time. */
  readonly registry: ChainRegistry;
  readonly changes: UpstreamChangeStore;
  readonly sealer: Sealer;
  readonly audit: AuditStore;
  readonly clock: Clock;
}

/** What the operator does with upstreams while the service runs; every change is kept. */
export interface UpstreamAdmin {
  list(): readonly UpstreamStatus[];
  /**
   * Adds an upstream to a chain, once it has shown to serve it.
   * @throws ApiError `UPSTREAM_REFUSED`, `UNSUPPORTED_CHAIN`, `INVALID_FIELD`
   */
  add(chainId: number, upstream: UpstreamData): Promise<UpstreamStatus>;
  /**
   * Sends an upstream no more calls.
   * @throws ApiError `UNKNOWN_UPSTREAM`
   */
  drain(id: string): Promise<void>;
  /**
   * Drains an upstream and drops it once its calls have ended.
   * @throws ApiError `UNKNOWN_UPSTREAM`
   */
  remove(id: string): Promise<void>;
}

const ACTOR = "console";

const refusals: Readonly<Record<UpstreamRefusal, { code: ErrorCode; message?: string }>> = {
  "unknown-chain": { code: "UNSUPPORTED_CHAIN" },
  "attached-already": { code: "UPSTREAM_REFUSED", message: "The upstream is in use already" },
  "wrong-chain": { code: "UPSTREAM_REFUSED", message: "The node serves another chain" },
  silent: { code: "UPSTREAM_REFUSED", message: "The node did not answer" },
};

/** The operator's hand on the pool. */
export function createUpstreamAdmin(options: UpstreamAdminOptions): UpstreamAdmin {
  const { audit, changes, clock, pool, registry, sealer } = options;

  const isConfigured = (id: string) =>
    registry.all.some((chain) =>
      chain.upstreams.some(({ url }) => upstreamId(chain.id, url) === id),
    );
  const find = (id: string): UpstreamStatus => {
    const known = pool.status().find((one) => one.id === id);
    if (!known) throw new ApiError("UNKNOWN_UPSTREAM");
    return known;
  };
  const record = async (action: string, { id, chainId, name }: UpstreamStatus) =>
    audit.append({ at: clock.now(), actor: ACTOR, action, subject: id, detail: { chainId, name } });

  /** At the next start it is as if the upstream had never been there. */
  const keepRemoved = async (id: string, chainId: number) => {
    if (!isConfigured(id)) return changes.drop(id);
    return changes.put({ id, chainId, kind: "removed", sealed: null, changedAt: clock.now() });
  };

  return {
    list: () => pool.status(),
    async add(chainId, upstream) {
      if (!URL.canParse(upstream.url)) throw new ApiError("INVALID_FIELD", "Invalid field: url");
      const status = await attach(pool, chainId, upstream);
      const { id } = status;
      const sealed = sealer.seal(JSON.stringify(upstream));
      await changes.put({ id, chainId, kind: "added", sealed, changedAt: clock.now() });
      await record("upstream.add", status);
      return status;
    },
    async drain(id) {
      const known = find(id);
      pool.drain(id);
      await keepRemoved(id, known.chainId);
      await record("upstream.drain", known);
    },
    async remove(id) {
      const known = find(id);
      await keepRemoved(id, known.chainId);
      await record("upstream.remove", known);
      await pool.remove(id);
    },
  };
}

async function attach(
  pool: UpstreamPool,
  chainId: number,
  upstream: UpstreamData,
): Promise<UpstreamStatus> {
  try {
    return await pool.attach(chainId, upstream);
  } catch (error) {
    if (!(error instanceof UpstreamRefusedError)) throw error;
    const { code, message } = refusals[error.reason];
    throw new ApiError(code, message);
  }
}

/**
 * Reads the changes made while earlier processes ran.
 * @param onLost - told of an entry that was encrypted with another installation's secret
 */
export async function readChanges(
  changes: UpstreamChangeStore,
  sealer: Sealer,
  onLost: (id: string) => void,
): Promise<LineupChange[]> {
  const found: LineupChange[] = [];
  for (const { id, chainId, kind, sealed } of await changes.list()) {
    if (kind === "removed") {
      found.push({ kind, chainId, id });
      continue;
    }
    const upstream = readEntry(sealed === null ? undefined : sealer.unseal(sealed));
    if (upstream) found.push({ kind, chainId, upstream });
    else onLost(id);
  }
  return found;
}

function readEntry(text: string | undefined): UpstreamData | undefined {
  if (text === undefined) return undefined;
  const entry: unknown = JSON.parse(text);
  return Value.Check(UpstreamSchema, entry) ? entry : undefined;
}

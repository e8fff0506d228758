import { monthOf } from "../../access/index.ts";
import type { ChainRegistry } from "../../chains/index.ts";
import type { ActivityStore, UsageStore } from "../../db/index.ts";
import type { Clock } from "../../lib/clock.ts";
import { ApiError } from "../../lib/errors.ts";
import type { UpstreamStatus } from "../../upstream/index.ts";
import type { Identity } from "../endpoint.ts";
import type { ChainView, ErrorView, HourView, OverviewView, Totals, UsageView } from "../views.ts";
import { chunksOf } from "./chunks.ts";
import type { ConsoleKeys } from "./keys.ts";

export interface InsightOptions {
  readonly keys: ConsoleKeys;
  readonly usage: UsageStore;
  readonly activity: ActivityStore;
  readonly registry: ChainRegistry;
  readonly upstreams: () => readonly UpstreamStatus[];
  readonly clock: Clock;
}

/** What the console tells about use; of the identity's own keys only. */
export interface Insight {
  overview(identity: Identity): Promise<OverviewView>;
  /** @param query - `range`: `24h`, `7d` or `30d`; `key`: id of one key. @throws ApiError */
  usage(identity: Identity, query: URLSearchParams): Promise<UsageView>;
  /** @param query - `key`: id of one key. @throws ApiError `UNKNOWN_KEY` */
  errors(identity: Identity, query: URLSearchParams): Promise<readonly ErrorView[]>;
}

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
const MAX_ERRORS = 100;
/** Enough to count a day's errors of an account's keys, as far as they are kept. */
const MAX_COUNTED_ERRORS = 10_000;

const ranges: ReadonlyMap<string, number> = new Map([
  ["24h", DAY_HOURS],
  ["7d", 7 * DAY_HOURS],
  ["30d", 30 * DAY_HOURS],
]);

export function createInsight(options: InsightOptions): Insight {
  const { keys, usage, activity, registry, upstreams, clock } = options;

  const hourly = async (ids: readonly string[], fromHour: number, toHour: number) => {
    const rows: HourView[] = [];
    for (const chunk of chunksOf(ids)) {
      for (const { hour, ...sums } of await usage.hourly(chunk, fromHour, toHour)) {
        rows.push({ at: hour * HOUR_MS, ...sums });
      }
    }
    return rows;
  };
  /** The newest errors of all these keys. */
  const errorsOf = async (ids: readonly string[], limit: number) => {
    const found: ErrorView[] = [];
    for (const chunk of chunksOf(ids)) found.push(...(await activity.errors(chunk, limit)));
    return found.sort((a, b) => b.id - a.id).slice(0, limit);
  };

  return {
    async overview(identity) {
      const now = clock.now();
      const shown = await keys.list(identity);
      const ids = shown.map(({ id }) => id);
      const toHour = Math.floor(now / HOUR_MS) + 1;
      const hours = await hourly(ids, toHour - DAY_HOURS, toHour);
      const month = await hourly(ids, monthOf(now).start / HOUR_MS, toHour);
      const errors = await errorsOf(ids, MAX_COUNTED_ERRORS);
      return {
        last24h: totalOf(hours),
        month: totalOf(month),
        errors24h: errors.filter(({ at }) => at > now - DAY_HOURS * HOUR_MS).length,
        hours,
        keys: shown,
        chains: chainViews(registry, upstreams()),
      };
    },
    async usage(identity, query) {
      const spanHours = ranges.get(query.get("range") ?? "24h");
      if (spanHours === undefined) {
        const known = [...ranges.keys()].join(", ");
        throw new ApiError("INVALID_FIELD", `Invalid field: range (one of ${known})`);
      }
      const ids = await keys.visibleIds(identity, query.get("key"));
      const toHour = Math.floor(clock.now() / HOUR_MS) + 1;
      const fromHour = toHour - spanHours;
      const hours = await hourly(ids, fromHour, toHour);
      return {
        from: fromHour * HOUR_MS,
        to: toHour * HOUR_MS,
        total: totalOf(hours),
        hours,
        operations: await byOperation(ids, fromHour, toHour),
      };
    },
    async errors(identity, query) {
      const ids = await keys.visibleIds(identity, query.get("key"));
      return errorsOf(ids, MAX_ERRORS);
    },
  };

  async function byOperation(ids: readonly string[], fromHour: number, toHour: number) {
    const sums = new Map<string, UsageView["operations"][number]>();
    for (const id of ids) {
      for (const row of await usage.sums(id, fromHour, toHour)) {
        const name = `${row.operation} ${row.chainId}`;
        const before = sums.get(name);
        sums.set(name, {
          operation: row.operation,
          chainId: row.chainId === 0 ? null : row.chainId,
          chain: registry.byId(row.chainId)?.name ?? null,
          requests: (before?.requests ?? 0) + row.requests,
          cu: (before?.cu ?? 0) + row.cu,
        });
      }
    }
    return [...sums.values()].sort((a, b) => b.cu - a.cu);
  }
}

function totalOf(rows: readonly Totals[]): Totals {
  const total = { requests: 0, cu: 0 };
  for (const { requests, cu } of rows) {
    total.requests += requests;
    total.cu += cu;
  }
  return total;
}

/** The chains that have nodes, and how well they can be reached. */
function chainViews(registry: ChainRegistry, all: readonly UpstreamStatus[]): ChainView[] {
  const byChain = Map.groupBy(all, ({ chainId }) => chainId);
  return registry.all.flatMap(({ id, name }) => {
    const nodes = byChain.get(id) ?? [];
    if (nodes.length === 0) return [];
    const nodesUp = nodes.filter(({ state }) => state === "active").length;
    const heads = nodes.flatMap(({ head }) => (head === undefined ? [] : [head]));
    return [
      {
        chainId: id,
        name,
        state: chainState(nodes, nodesUp),
        head: heads.length === 0 ? null : Math.max(...heads),
        nodes: nodes.length,
        nodesUp,
      },
    ];
  });
}

function chainState(nodes: readonly UpstreamStatus[], up: number): ChainView["state"] {
  if (nodes.every(({ state }) => state === "idle")) return "idle";
  if (up === 0) return "down";
  return up < nodes.length ? "degraded" : "up";
}

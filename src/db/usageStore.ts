import { and, desc, eq, gte, lt, sql } from "drizzle-orm";
import { usage } from "./schema.ts";
import type { SqliteConnection } from "./sqlite.ts";
import type { UsageRow, UsageStore } from "./types.ts";

/** The ledger in SQLite. */
export function createUsageStore({ orm, client }: SqliteConnection): UsageStore {
  const upsert = orm
    .insert(usage)
    .values({
      keyId: sql.placeholder("keyId"),
      hour: sql.placeholder("hour"),
      operation: sql.placeholder("operation"),
      chainId: sql.placeholder("chainId"),
      requests: sql.placeholder("requests"),
      cu: sql.placeholder("cu"),
    })
    .onConflictDoUpdate({
      target: [usage.keyId, usage.hour, usage.operation, usage.chainId],
      set: {
        requests: sql`${usage.requests} + excluded.requests`,
        cu: sql`${usage.cu} + excluded.cu`,
      },
    })
    .prepare();
  const addAll = client.transaction((rows: Iterable<UsageRow>) => {
    for (const row of rows) upsert.run({ ...row });
  });
  const requests = sql<number>`sum(${usage.requests})`;
  const cu = sql<number>`sum(${usage.cu})`;

  return {
    add: (rows) => addAll.immediate(rows),
    totalCu: (keyId, fromHour, toHour) =>
      orm
        .select({ cu: sql<number>`coalesce(sum(${usage.cu}), 0)` })
        .from(usage)
        .where(span(keyId, fromHour, toHour))
        .get()?.cu ?? 0,
    sums: (keyId, fromHour, toHour) =>
      orm
        .select({ operation: usage.operation, chainId: usage.chainId, requests, cu })
        .from(usage)
        .where(span(keyId, fromHour, toHour))
        .groupBy(usage.operation, usage.chainId)
        .orderBy(desc(cu), usage.operation, usage.chainId)
        .all(),
  };
}

function span(keyId: string, fromHour: number, toHour: number) {
  return and(eq(usage.keyId, keyId), gte(usage.hour, fromHour), lt(usage.hour, toHour));
}

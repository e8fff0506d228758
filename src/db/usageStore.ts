import { and, asc, desc, eq, gte, inArray, lt, sql } from "drizzle-orm";
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

  const totalCu = (keyId: string, fromHour: number, toHour: number) =>
    orm
      .select({ cu: sql<number>`coalesce(sum(${usage.cu}), 0)` })
      .from(usage)
      .where(span(keyId, fromHour, toHour))
      .get()?.cu ?? 0;

  return {
    // One process serves, so all of an allowance is its own.
    allot: ({ keyId, fromHour, toHour, allowanceCu }) => ({
      spentCu: totalCu(keyId, fromHour, toHour),
      ceilingCu: allowanceCu,
    }),
    allotmentEpoch: () => 0,
    add: (rows) => addAll.immediate(rows),
    totalCu,
    sums: (keyId, fromHour, toHour) =>
      orm
        .select({ operation: usage.operation, chainId: usage.chainId, requests, cu })
        .from(usage)
        .where(span(keyId, fromHour, toHour))
        .groupBy(usage.operation, usage.chainId)
        .orderBy(desc(cu), usage.operation, usage.chainId)
        .all(),
    hourly: (keyIds, fromHour, toHour) =>
      orm
        .select({ hour: usage.hour, operation: usage.operation, requests, cu })
        .from(usage)
        .where(
          and(inArray(usage.keyId, [...keyIds]), gte(usage.hour, fromHour), lt(usage.hour, toHour)),
        )
        .groupBy(usage.hour, usage.operation)
        .orderBy(asc(usage.hour), asc(usage.operation))
        .all(),
  };
}

function span(keyId: string, fromHour: number, toHour: number) {
  return and(eq(usage.keyId, keyId), gte(usage.hour, fromHour), lt(usage.hour, toHour));
}

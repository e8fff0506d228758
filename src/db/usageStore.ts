import { and, asc, desc, eq, gte, inArray, lt, sql } from "drizzle-orm";
import { integer, sqliteView, text } from "drizzle-orm/sqlite-core";
import type { SqliteConnection } from "./sqlite.ts";
import type { UsageStore } from "./types.ts";
import { createUsageFold } from "./usageFold.ts";
import type { UsageJournal } from "./usageJournal.ts";

/** What the ledger holds and what is on the way to it. */
const charged = sqliteView("charged", {
  keyId: text("key_id").notNull(),
  hour: integer().notNull(),
  operation: text().notNull(),
  chainId: integer("chain_id").notNull(),
  requests: integer().notNull(),
  cu: integer().notNull(),
}).existing();
const CHARGED = `
  CREATE TEMP VIEW charged AS
  SELECT key_id, hour, operation, chain_id, requests, cu FROM usage
  UNION ALL
  SELECT key_id, hour, operation, chain_id, requests, cu FROM temp.usage_pending`;

/** The ledger in SQLite. */
export interface SqliteUsageStore extends UsageStore {
  /** Stops what goes on in the background, and brings what it can into the ledger. */
  close(): void;
}

/** The ledger in SQLite. */
export function createUsageStore(
  connection: SqliteConnection,
  journal: UsageJournal,
): SqliteUsageStore {
  const { orm, client } = connection;
  const fold = createUsageFold(connection, journal);
  client.run(CHARGED);
  const requests = sql<number>`sum(${charged.requests})`;
  const cu = sql<number>`sum(${charged.cu})`;

  const selectTotal = (keyId: string, fromHour: number, toHour: number) =>
    orm
      .select({ cu: sql<number>`coalesce(sum(${charged.cu}), 0)` })
      .from(charged)
      .where(span(keyId, fromHour, toHour));
  const selectSums = (keyId: string, fromHour: number, toHour: number) =>
    orm
      .select({ operation: charged.operation, chainId: charged.chainId, requests, cu })
      .from(charged)
      .where(span(keyId, fromHour, toHour))
      .groupBy(charged.operation, charged.chainId)
      .orderBy(desc(cu), charged.operation, charged.chainId);
  const selectHours = (keyIds: readonly string[], fromHour: number, toHour: number) =>
    orm
      .select({ hour: charged.hour, operation: charged.operation, requests, cu })
      .from(charged)
      .where(
        and(
          inArray(charged.keyId, [...keyIds]),
          gte(charged.hour, fromHour),
          lt(charged.hour, toHour),
        ),
      )
      .groupBy(charged.hour, charged.operation)
      .orderBy(asc(charged.hour), asc(charged.operation));

  const totalCu = (keyId: string, fromHour: number, toHour: number) =>
    journal.read(() => selectTotal(keyId, fromHour, toHour).get()?.cu ?? 0);

  return {
    // One process serves, so all of an allowance is its own.
    allot: ({ keyId, fromHour, toHour, allowanceCu }) => ({
      spentCu: totalCu(keyId, fromHour, toHour),
      ceilingCu: allowanceCu,
    }),
    allotmentEpoch: () => 0,
    add(rows, at = 0) {
      journal.append([...rows], at);
      fold.appended();
    },
    totalCu,
    sums: (keyId, fromHour, toHour) =>
      journal.read(() => selectSums(keyId, fromHour, toHour).all()),
    hourly: (keyIds, fromHour, toHour) =>
      journal.read(() => selectHours(keyIds, fromHour, toHour).all()),
    close: fold.stop,
  };
}

function span(keyId: string, fromHour: number, toHour: number) {
  return and(eq(charged.keyId, keyId), gte(charged.hour, fromHour), lt(charged.hour, toHour));
}

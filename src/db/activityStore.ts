import { and, desc, eq, inArray, lte, sql } from "drizzle-orm";
import { keyErrors, keyLastUsed } from "./schema.ts";
import type { ActivityStore } from "./consoleTypes.ts";
import type { SqliteConnection } from "./sqlite.ts";
import type { UsageJournal } from "./usageJournal.ts";

/**
 * Stored at once in about 3 ms. Beyond it, uses that are charged are not lost: the journal notes
 * them too, and brings them here in order, which costs far less than one by one.
 */
const MAX_WAITING_USES = 500;

/** Last use and recent errors of keys in SQLite. */
export function createActivityStore(
  { orm, client }: SqliteConnection,
  journal: UsageJournal,
): ActivityStore {
  const use = orm
    .insert(keyLastUsed)
    .values({ keyId: sql.placeholder("keyId"), at: sql.placeholder("at") })
    .onConflictDoUpdate({
      target: keyLastUsed.keyId,
      set: { at: sql`max(${keyLastUsed.at}, excluded.at)` },
    })
    .prepare();

  const isWanted = "key_id IN (SELECT value FROM json_each($keyIds))";
  const selectUses = client.query<{ keyId: string; at: number }, { keyIds: string }>(`
    SELECT key_id AS keyId, max(at) AS at FROM (
      SELECT key_id, at FROM key_last_used WHERE ${isWanted}
      UNION ALL SELECT key_id, at FROM temp.usage_pending WHERE ${isWanted} AND at > 0)
    GROUP BY key_id`);

  return {
    maxWaitingUses: MAX_WAITING_USES,
    save(lastUsed, errors, maxErrorsPerKey) {
      orm.transaction(
        (tx) => {
          for (const [keyId, at] of lastUsed) use.run({ keyId, at });
          for (const error of errors) tx.insert(keyErrors).values(error).run();
          for (const keyId of new Set(errors.map((error) => error.keyId))) {
            const newestSurplus = tx
              .select({ id: keyErrors.id })
              .from(keyErrors)
              .where(eq(keyErrors.keyId, keyId))
              .orderBy(desc(keyErrors.id))
              .limit(1)
              .offset(maxErrorsPerKey)
              .get();
            if (!newestSurplus) continue;
            tx.delete(keyErrors)
              .where(and(eq(keyErrors.keyId, keyId), lte(keyErrors.id, newestSurplus.id)))
              .run();
          }
        },
        { behavior: "immediate" },
      );
    },
    lastUsed(keyIds) {
      const rows = journal.read(() => selectUses.all({ keyIds: JSON.stringify(keyIds) }));
      return new Map(rows.map(({ keyId, at }) => [keyId, at]));
    },
    errors: (keyIds, limit) =>
      orm
        .select()
        .from(keyErrors)
        .where(inArray(keyErrors.keyId, [...keyIds]))
        .orderBy(desc(keyErrors.id))
        .limit(limit)
        .all(),
  };
}

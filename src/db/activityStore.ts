import { and, desc, eq, inArray, lte, sql } from "drizzle-orm";
import { keyErrors, keyLastUsed } from "./schema.ts";
import type { ActivityStore } from "./consoleTypes.ts";
import type { SqliteConnection } from "./sqlite.ts";

/** Last use and recent errors of keys in SQLite. */
export function createActivityStore({ orm }: SqliteConnection): ActivityStore {
  const use = orm
    .insert(keyLastUsed)
    .values({ keyId: sql.placeholder("keyId"), at: sql.placeholder("at") })
    .onConflictDoUpdate({
      target: keyLastUsed.keyId,
      set: { at: sql`max(${keyLastUsed.at}, excluded.at)` },
    })
    .prepare();

  return {
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
      const rows = orm
        .select()
        .from(keyLastUsed)
        .where(inArray(keyLastUsed.keyId, [...keyIds]))
        .all();
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

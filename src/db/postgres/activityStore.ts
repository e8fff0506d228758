import { and, desc, eq, inArray, lte, sql } from "drizzle-orm";
import type { ActivityStore } from "../consoleTypes.ts";
import type { PostgresConnection } from "./connection.ts";
import { keyErrors, keyLastUsed } from "./schema.ts";

/** They are stored in one statement. */
const MAX_WAITING_USES = 10_000;

/** Last use and recent errors of keys in Postgres. */
export function createActivityStore(connection: PostgresConnection): ActivityStore {
  const { orm, repeatable, transaction } = connection;
  return {
    maxWaitingUses: MAX_WAITING_USES,
    save: (lastUsed, errors, maxErrorsPerKey) =>
      transaction(async (tx) => {
        // In one order in every process, so that two of them cannot wait for each other.
        const used = [...lastUsed].map(([keyId, at]) => ({ keyId, at }));
        used.sort((a, b) => (a.keyId < b.keyId ? -1 : 1));
        if (used.length > 0) {
          await tx
            .insert(keyLastUsed)
            .values(used)
            .onConflictDoUpdate({
              target: keyLastUsed.keyId,
              set: { at: sql`greatest(${keyLastUsed.at}, excluded.at)` },
            });
        }
        if (errors.length > 0) await tx.insert(keyErrors).values([...errors]);
        for (const keyId of new Set(errors.map((error) => error.keyId))) {
          const [newestSurplus] = await tx
            .select({ id: keyErrors.id })
            .from(keyErrors)
            .where(eq(keyErrors.keyId, keyId))
            .orderBy(desc(keyErrors.id))
            .limit(1)
            .offset(maxErrorsPerKey);
          if (!newestSurplus) continue;
          await tx
            .delete(keyErrors)
            .where(and(eq(keyErrors.keyId, keyId), lte(keyErrors.id, newestSurplus.id)));
        }
      }),
    lastUsed: (keyIds) =>
      repeatable(async () => {
        if (keyIds.length === 0) return new Map();
        const ids = inArray(keyLastUsed.keyId, [...keyIds]);
        const rows = await orm.select().from(keyLastUsed).where(ids);
        return new Map(rows.map(({ keyId, at }) => [keyId, at]));
      }),
    errors: (keyIds, limit) =>
      repeatable(async () => {
        if (keyIds.length === 0) return [];
        return orm
          .select()
          .from(keyErrors)
          .where(inArray(keyErrors.keyId, [...keyIds]))
          .orderBy(desc(keyErrors.id))
          .limit(limit);
      }),
  };
}

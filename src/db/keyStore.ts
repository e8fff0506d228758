import { and, count, desc, eq, gt, inArray, isNull, ne, or, sql } from "drizzle-orm";
import { createKeyLookup } from "./keyLookup.ts";
import { audit, keySecrets, keys } from "./schema.ts";
import type { KeysRevision } from "./keysRevision.ts";
import type { SqliteConnection } from "./sqlite.ts";
import type { AuditEntry, KeyStore, StoredKey } from "./types.ts";

/** Keys in SQLite. */
export function createKeyStore(connection: SqliteConnection, revision: KeysRevision): KeyStore {
  const { orm } = connection;

  /** Runs a change, its audit line and the step of the revision as one transaction. */
  const change = (entry: AuditEntry, apply: (tx: Transaction) => boolean): boolean =>
    orm.transaction(
      (tx) => {
        if (!apply(tx)) return false;
        tx.insert(audit).values(entry).run();
        revision.step(tx);
        return true;
      },
      { behavior: "immediate" },
    );
  type Transaction = Parameters<Parameters<typeof orm.transaction>[0]>[0];

  return {
    revision: revision.read,
    findByHash: createKeyLookup(connection),
    find: (id): StoredKey | undefined => orm.select().from(keys).where(eq(keys.id, id)).get(),
    list: (accountId) =>
      orm
        .select()
        .from(keys)
        .where(accountId === undefined ? undefined : eq(keys.accountId, accountId))
        .orderBy(desc(keys.createdAt), desc(keys.id))
        .all(),
    secrets: (keyIds) =>
      orm
        .select()
        .from(keySecrets)
        .where(keyIds && inArray(keySecrets.keyId, [...keyIds]))
        .orderBy(desc(keySecrets.createdAt), desc(sql`rowid`))
        .all(),
    insert: (key, secret, entry, maxOfAccount) =>
      change(entry, (tx) => {
        if (maxOfAccount !== undefined && key.accountId !== null) {
          const valid = and(
            eq(keys.accountId, key.accountId),
            isNull(keys.revokedAt),
            or(isNull(keys.expiresAt), gt(keys.expiresAt, key.createdAt)),
          );
          const held = tx.select({ count: count() }).from(keys).where(valid).get()?.count ?? 0;
          if (held >= maxOfAccount) return false;
        }
        tx.insert(keys).values(key).run();
        tx.insert(keySecrets)
          .values({ ...secret, keyId: key.id })
          .run();
        return true;
      }),
    update: (id, changes, entry) =>
      change(entry, (tx) => {
        const changed = tx
          .update(keys)
          .set(changes)
          .where(and(eq(keys.id, id), isNull(keys.revokedAt)))
          .returning({ id: keys.id })
          .all();
        return changed.length > 0;
      }),
    revoke: (id, at, entry) =>
      change(entry, (tx) => {
        const revoked = tx
          .update(keys)
          .set({ revokedAt: at })
          .where(and(eq(keys.id, id), isNull(keys.revokedAt)))
          .returning({ id: keys.id })
          .all();
        return revoked.length > 0;
      }),
    rotate: (id, secret, graceUntil, entry) =>
      change(entry, (tx) => {
        const open = and(eq(keys.id, id), isNull(keys.revokedAt));
        if (!tx.select({ id: keys.id }).from(keys).where(open).get()) return false;
        tx.insert(keySecrets)
          .values({ ...secret, keyId: id })
          .run();
        const others = and(eq(keySecrets.keyId, id), ne(keySecrets.hash, secret.hash));
        const endsLater = or(isNull(keySecrets.graceUntil), gt(keySecrets.graceUntil, graceUntil));
        tx.update(keySecrets).set({ graceUntil }).where(and(others, endsLater)).run();
        return true;
      }),
  };
}

import { and, desc, eq, gt, isNull, ne, or, sql } from "drizzle-orm";
import { audit, keySecrets, keys, settings } from "./schema.ts";
import type { SqliteConnection } from "./sqlite.ts";
import type { AuditEntry, KeyStore, StoredKey, StoredSecret } from "./types.ts";

const REVISION = "keys_revision";

/** Keys in SQLite. */
export function createKeyStore({ orm, client }: SqliteConnection): KeyStore {
  const findByHash = orm
    .select({ key: keys, secret: keySecrets })
    .from(keySecrets)
    .innerJoin(keys, eq(keys.id, keySecrets.keyId))
    .where(eq(keySecrets.hash, sql.placeholder("hash")))
    .prepare();
  const readRevision = createRevisionReader(client);

  /** Runs a change, its audit line and the step of the revision as one transaction. */
  const change = (entry: AuditEntry, apply: (tx: Transaction) => boolean): boolean =>
    orm.transaction(
      (tx) => {
        if (!apply(tx)) return false;
        tx.insert(audit).values(entry).run();
        tx.insert(settings)
          .values({ name: REVISION, value: "1" })
          .onConflictDoUpdate({
            target: settings.name,
            set: { value: sql`CAST(CAST(${settings.value} AS INTEGER) + 1 AS TEXT)` },
          })
          .run();
        readRevision.invalidate();
        return true;
      },
      { behavior: "immediate" },
    );
  type Transaction = Parameters<Parameters<typeof orm.transaction>[0]>[0];

  return {
    revision: readRevision,
    findByHash: (hash) => findByHash.get({ hash }),
    find: (id): StoredKey | undefined => orm.select().from(keys).where(eq(keys.id, id)).get(),
    list: () => orm.select().from(keys).orderBy(desc(keys.createdAt), desc(keys.id)).all(),
    secrets: (id): StoredSecret[] =>
      orm
        .select()
        .from(keySecrets)
        .where(eq(keySecrets.keyId, id))
        .orderBy(desc(keySecrets.createdAt), desc(sql`rowid`))
        .all(),
    insert(key, secret, entry) {
      change(entry, (tx) => {
        tx.insert(keys).values(key).run();
        tx.insert(keySecrets)
          .values({ ...secret, keyId: key.id })
          .run();
        return true;
      });
    },
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

/** How long a look at the revision holds: a change by another process is seen after at most this. */
const REVISION_HOLDS_MS = 1;

/**
 * Reads the keys' revision. `PRAGMA data_version` differs only after a commit of another
 * connection and costs less than any query, so the row is read again only then. Beside steady
 * commits even the pragma costs 5 µs, so requests of the same millisecond share one look.
 */
function createRevisionReader(client: SqliteConnection["client"]) {
  const dataVersion = client.query<{ data_version: number }, []>("PRAGMA data_version");
  const select = client.query<{ value: string }, [string]>(
    "SELECT value FROM settings WHERE name = ?",
  );
  let holdsUntil = 0;
  let seenDataVersion = -1;
  let revision = 0;
  const read = (): number => {
    const now = performance.now();
    if (now < holdsUntil) return revision;
    holdsUntil = now + REVISION_HOLDS_MS;
    const current = dataVersion.get()?.data_version ?? -1;
    if (current === seenDataVersion) return revision;
    revision = Number(select.get(REVISION)?.value ?? 0);
    seenDataVersion = current;
    return revision;
  };
  /** Own commits leave the data version as it is. */
  read.invalidate = () => {
    holdsUntil = 0;
    seenDataVersion = -1;
  };
  return read;
}

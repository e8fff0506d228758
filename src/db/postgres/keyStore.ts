import { and, count, desc, eq, gt, inArray, isNull, ne, or } from "drizzle-orm";
import type { AuditEntry, KeyStore } from "../types.ts";
import { KEYS_REVISION } from "../revisionNames.ts";
import type { PostgresConnection, Transaction } from "./connection.ts";
import { bump, type Revisions } from "./revisions.ts";
import { accounts, audit, keySecrets, keys } from "./schema.ts";

const secretColumns = {
  hash: keySecrets.hash,
  keyId: keySecrets.keyId,
  last4: keySecrets.last4,
  createdAt: keySecrets.createdAt,
  graceUntil: keySecrets.graceUntil,
};

/** Keys in Postgres. */
export function createKeyStore(connection: PostgresConnection, revisions: Revisions): KeyStore {
  const { orm, repeatable, transaction } = connection;

  /** Runs a change, its audit line and the step of the revision as one transaction. */
  const change = async (
    entry: AuditEntry,
    apply: (tx: Transaction) => Promise<boolean>,
  ): Promise<boolean> => {
    const isDone = await transaction(async (tx) => {
      if (!(await apply(tx))) return false;
      await tx.insert(audit).values(entry);
      await bump(tx, KEYS_REVISION);
      return true;
    });
    if (isDone) await revisions.changed();
    return isDone;
  };

  return {
    revision: () => revisions.get(KEYS_REVISION),
    findByHash: (hash) =>
      repeatable(async () => {
        const [row] = await orm
          .select({ key: keys, secret: secretColumns, disabledAt: accounts.disabledAt })
          .from(keySecrets)
          .innerJoin(keys, eq(keys.id, keySecrets.keyId))
          .leftJoin(accounts, eq(accounts.id, keys.accountId))
          .where(eq(keySecrets.hash, hash));
        if (!row) return undefined;
        const { key, secret, disabledAt } = row;
        return { key, secret, isAccountDisabled: disabledAt !== null };
      }),
    find: (id) => repeatable(async () => (await orm.select().from(keys).where(eq(keys.id, id)))[0]),
    list: (accountId) =>
      repeatable(() =>
        orm
          .select()
          .from(keys)
          .where(accountId === undefined ? undefined : eq(keys.accountId, accountId))
          .orderBy(desc(keys.createdAt), desc(keys.id)),
      ),
    secrets: (keyIds) =>
      repeatable(() =>
        orm
          .select(secretColumns)
          .from(keySecrets)
          .where(keyIds && inArray(keySecrets.keyId, [...keyIds]))
          .orderBy(desc(keySecrets.createdAt), desc(keySecrets.seq)),
      ),
    insert: (key, secret, entry, maxOfAccount) =>
      change(entry, async (tx) => {
        const { accountId } = key;
        if (maxOfAccount !== undefined && accountId !== null) {
          // Two keys made at once must not both be the last one allowed.
          await tx.select().from(accounts).where(eq(accounts.id, accountId)).for("update");
          const valid = and(
            eq(keys.accountId, accountId),
            isNull(keys.revokedAt),
            or(isNull(keys.expiresAt), gt(keys.expiresAt, key.createdAt)),
          );
          const [held] = await tx.select({ count: count() }).from(keys).where(valid);
          if ((held?.count ?? 0) >= maxOfAccount) return false;
        }
        await tx.insert(keys).values(key);
        await tx.insert(keySecrets).values({ ...secret, keyId: key.id });
        return true;
      }),
    update: (id, changes, entry) =>
      change(entry, async (tx) => {
        const changed = await tx
          .update(keys)
          .set(changes)
          .where(and(eq(keys.id, id), isNull(keys.revokedAt)))
          .returning({ id: keys.id });
        return changed.length > 0;
      }),
    revoke: (id, at, entry) =>
      change(entry, async (tx) => {
        const revoked = await tx
          .update(keys)
          .set({ revokedAt: at })
          .where(and(eq(keys.id, id), isNull(keys.revokedAt)))
          .returning({ id: keys.id });
        return revoked.length > 0;
      }),
    rotate: (id, secret, graceUntil, entry) =>
      change(entry, async (tx) => {
        const open = and(eq(keys.id, id), isNull(keys.revokedAt));
        const [key] = await tx.select({ id: keys.id }).from(keys).where(open).for("update");
        if (!key) return false;
        await tx.insert(keySecrets).values({ ...secret, keyId: id });
        const others = and(eq(keySecrets.keyId, id), ne(keySecrets.hash, secret.hash));
        const endsLater = or(isNull(keySecrets.graceUntil), gt(keySecrets.graceUntil, graceUntil));
        await tx.update(keySecrets).set({ graceUntil }).where(and(others, endsLater));
        return true;
      }),
  };
}

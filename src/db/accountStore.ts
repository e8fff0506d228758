import { and, desc, eq, gt, isNull } from "drizzle-orm";
import { accounts, audit, invitations } from "./schema.ts";
import type { AccountStore } from "./consoleTypes.ts";
import type { KeysRevision } from "./keysRevision.ts";
import type { SqliteConnection } from "./sqlite.ts";

/** Accounts in SQLite. */
export function createAccountStore(
  { orm }: SqliteConnection,
  revision: KeysRevision,
): AccountStore {
  return {
    find: (id) => orm.select().from(accounts).where(eq(accounts.id, id)).get(),
    findByAddress: (address) =>
      orm.select().from(accounts).where(eq(accounts.address, address)).get(),
    list: (limit) =>
      orm
        .select()
        .from(accounts)
        .orderBy(desc(accounts.createdAt), desc(accounts.id))
        .limit(limit)
        .all(),
    insert: (account, invitationHash, entry) =>
      orm.transaction(
        (tx) => {
          const invitation =
            invitationHash === undefined
              ? undefined
              : tx
                  .select({ id: invitations.id })
                  .from(invitations)
                  .where(
                    and(
                      eq(invitations.codeHash, invitationHash),
                      isNull(invitations.usedAt),
                      isNull(invitations.revokedAt),
                      gt(invitations.expiresAt, account.createdAt),
                    ),
                  )
                  .get();
          if (invitationHash !== undefined && !invitation) return false;
          tx.insert(accounts).values(account).run();
          if (invitation) {
            tx.update(invitations)
              .set({ accountId: account.id, usedAt: account.createdAt })
              .where(eq(invitations.id, invitation.id))
              .run();
          }
          tx.insert(audit).values(entry).run();
          return true;
        },
        { behavior: "immediate" },
      ),
    touch(id, at) {
      orm.update(accounts).set({ lastSignInAt: at }).where(eq(accounts.id, id)).run();
    },
    update: (id, changes, entry) =>
      orm.transaction(
        (tx) => {
          const updated = tx
            .update(accounts)
            .set(changes)
            .where(eq(accounts.id, id))
            .returning({ id: accounts.id })
            .all();
          if (updated.length === 0) return false;
          tx.insert(audit).values(entry).run();
          revision.step(tx);
          return true;
        },
        { behavior: "immediate" },
      ),
  };
}

import { and, desc, eq, gt, isNull } from "drizzle-orm";
import type { AccountStore, InvitationStore } from "../consoleTypes.ts";
import { KEYS_REVISION } from "../revisionNames.ts";
import type { PostgresConnection } from "./connection.ts";
import { bump, type Revisions } from "./revisions.ts";
import { accounts, audit, invitations } from "./schema.ts";

const isOpen = and(isNull(invitations.usedAt), isNull(invitations.revokedAt));

/** Accounts in Postgres. */
export function createAccountStore(
  { orm, repeatable, transaction }: PostgresConnection,
  revisions: Revisions,
): AccountStore {
  return {
    find: (id) =>
      repeatable(async () => (await orm.select().from(accounts).where(eq(accounts.id, id)))[0]),
    findByAddress: (address) =>
      repeatable(
        async () => (await orm.select().from(accounts).where(eq(accounts.address, address)))[0],
      ),
    list: (limit) =>
      repeatable(() =>
        orm
          .select()
          .from(accounts)
          .orderBy(desc(accounts.createdAt), desc(accounts.id))
          .limit(limit),
      ),
    insert: (account, invitationHash, entry) =>
      transaction(async (tx) => {
        if (invitationHash !== undefined) {
          const [invitation] = await tx
            .select({ id: invitations.id })
            .from(invitations)
            .where(
              and(
                eq(invitations.codeHash, invitationHash),
                isOpen,
                gt(invitations.expiresAt, account.createdAt),
              ),
            )
            .for("update");
          if (!invitation) return false;
          await tx.insert(accounts).values(account);
          await tx
            .update(invitations)
            .set({ accountId: account.id, usedAt: account.createdAt })
            .where(eq(invitations.id, invitation.id));
        } else {
          await tx.insert(accounts).values(account);
        }
        await tx.insert(audit).values(entry);
        return true;
      }),
    touch: (id, at) =>
      repeatable(async () => {
        await orm.update(accounts).set({ lastSignInAt: at }).where(eq(accounts.id, id));
      }),
    async update(id, changes, entry) {
      const isDone = await transaction(async (tx) => {
        const updated = await tx
          .update(accounts)
          .set(changes)
          .where(eq(accounts.id, id))
          .returning({ id: accounts.id });
        if (updated.length === 0) return false;
        await tx.insert(audit).values(entry);
        await bump(tx, KEYS_REVISION);
        return true;
      });
      if (isDone) await revisions.changed();
      return isDone;
    },
  };
}

/** Invitations in Postgres. */
export function createInvitationStore({
  orm,
  repeatable,
  transaction,
}: PostgresConnection): InvitationStore {
  return {
    list: (limit) =>
      repeatable(() =>
        orm
          .select()
          .from(invitations)
          .orderBy(desc(invitations.createdAt), desc(invitations.id))
          .limit(limit),
      ),
    insert: (invitation, entry) =>
      transaction(async (tx) => {
        await tx.insert(invitations).values(invitation);
        await tx.insert(audit).values(entry);
      }),
    revoke: (id, at, entry) =>
      transaction(async (tx) => {
        const revoked = await tx
          .update(invitations)
          .set({ revokedAt: at })
          .where(and(eq(invitations.id, id), isOpen))
          .returning({ id: invitations.id });
        if (revoked.length === 0) return false;
        await tx.insert(audit).values(entry);
        return true;
      }),
  };
}

import { and, desc, eq, isNull } from "drizzle-orm";
import { audit, invitations } from "./schema.ts";
import type { InvitationStore } from "./consoleTypes.ts";
import type { SqliteConnection } from "./sqlite.ts";

/** Invitations in SQLite. */
export function createInvitationStore({ orm }: SqliteConnection): InvitationStore {
  return {
    list: (limit) =>
      orm
        .select()
        .from(invitations)
        .orderBy(desc(invitations.createdAt), desc(invitations.id))
        .limit(limit)
        .all(),
    insert(invitation, entry) {
      orm.transaction((tx) => {
        tx.insert(invitations).values(invitation).run();
        tx.insert(audit).values(entry).run();
      });
    },
    revoke: (id, at, entry) =>
      orm.transaction(
        (tx) => {
          const revoked = tx
            .update(invitations)
            .set({ revokedAt: at })
            .where(
              and(
                eq(invitations.id, id),
                isNull(invitations.usedAt),
                isNull(invitations.revokedAt),
              ),
            )
            .returning({ id: invitations.id })
            .all();
          if (revoked.length === 0) return false;
          tx.insert(audit).values(entry).run();
          return true;
        },
        { behavior: "immediate" },
      ),
  };
}

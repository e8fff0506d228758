import { and, desc, eq, gt, inArray, lte, sql } from "drizzle-orm";
import { consoleSessions, signInAttempts, signInChallenges } from "./schema.ts";
import type { SignInStore } from "./consoleTypes.ts";
import type { SqliteConnection } from "./sqlite.ts";

/** Challenges and subjects remembered at a time; the oldest beyond it are dropped. */
const MAX_CHALLENGES = 10_000;
const MAX_SUBJECTS = 10_000;
/** Dropped at a time; SQLite wants a limit beside an offset. */
const MAX_SURPLUS = 1_000;

/** Challenges, attempts and sessions in SQLite. */
export function createSignInStore({ orm }: SqliteConnection): SignInStore {
  return {
    addChallenge(challenge, now) {
      orm.transaction((tx) => {
        tx.delete(signInChallenges).where(lte(signInChallenges.expiresAt, now)).run();
        tx.insert(signInChallenges).values(challenge).run();
        const surplus = tx
          .select({ nonce: signInChallenges.nonce })
          .from(signInChallenges)
          .orderBy(desc(signInChallenges.expiresAt))
          .limit(MAX_SURPLUS)
          .offset(MAX_CHALLENGES);
        tx.delete(signInChallenges).where(inArray(signInChallenges.nonce, surplus)).run();
      });
    },
    takeChallenge(nonce, now) {
      const [taken] = orm
        .delete(signInChallenges)
        .where(eq(signInChallenges.nonce, nonce))
        .returning()
        .all();
      return taken && taken.expiresAt > now ? taken : undefined;
    },
    countAttempts: (subject, by, now, windowMs) =>
      orm.transaction(
        (tx) => {
          tx.delete(signInAttempts)
            .where(lte(signInAttempts.startedAt, now - windowMs))
            .run();
          const [row] = tx
            .insert(signInAttempts)
            .values({ subject, startedAt: now, count: Math.max(0, by) })
            .onConflictDoUpdate({
              target: signInAttempts.subject,
              set: { count: sql`max(0, ${signInAttempts.count} + ${by})` },
            })
            .returning({ count: signInAttempts.count })
            .all();
          const surplus = tx
            .select({ subject: signInAttempts.subject })
            .from(signInAttempts)
            .orderBy(desc(signInAttempts.startedAt))
            .limit(MAX_SURPLUS)
            .offset(MAX_SUBJECTS);
          tx.delete(signInAttempts).where(inArray(signInAttempts.subject, surplus)).run();
          return row?.count ?? by;
        },
        { behavior: "immediate" },
      ),
    addSession(session) {
      orm.transaction((tx) => {
        tx.delete(consoleSessions).where(lte(consoleSessions.expiresAt, session.createdAt)).run();
        tx.insert(consoleSessions).values(session).run();
      });
    },
    findSession: (id, now) =>
      orm
        .select()
        .from(consoleSessions)
        .where(and(eq(consoleSessions.id, id), gt(consoleSessions.expiresAt, now)))
        .get(),
    endSession(id) {
      orm.delete(consoleSessions).where(eq(consoleSessions.id, id)).run();
    },
    endSessionsOf(accountId) {
      orm.delete(consoleSessions).where(eq(consoleSessions.accountId, accountId)).run();
    },
  };
}

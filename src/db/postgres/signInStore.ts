import { and, desc, eq, gt, inArray, lte, sql } from "drizzle-orm";
import type { SignInStore } from "../consoleTypes.ts";
import type { PostgresConnection } from "./connection.ts";
import { consoleSessions, signInAttempts, signInChallenges } from "./schema.ts";

/** Challenges and subjects remembered at a time; the oldest beyond it are dropped. */
const MAX_CHALLENGES = 10_000;
const MAX_SUBJECTS = 10_000;

/** Challenges, attempts and sessions in Postgres. */
export function createSignInStore(connection: PostgresConnection): SignInStore {
  const { orm, once, repeatable, transaction } = connection;
  return {
    addChallenge: (challenge, now) =>
      transaction(async (tx) => {
        await tx.delete(signInChallenges).where(lte(signInChallenges.expiresAt, now));
        await tx.insert(signInChallenges).values(challenge);
        const surplus = tx
          .select({ nonce: signInChallenges.nonce })
          .from(signInChallenges)
          .orderBy(desc(signInChallenges.expiresAt))
          .offset(MAX_CHALLENGES);
        await tx.delete(signInChallenges).where(inArray(signInChallenges.nonce, surplus));
      }),
    takeChallenge: (nonce, now) =>
      once(async () => {
        const [taken] = await orm
          .delete(signInChallenges)
          .where(eq(signInChallenges.nonce, nonce))
          .returning();
        return taken && taken.expiresAt > now ? taken : undefined;
      }),
    countAttempts: (subject, by, now, windowMs) =>
      transaction(async (tx) => {
        await tx.delete(signInAttempts).where(lte(signInAttempts.startedAt, now - windowMs));
        const [row] = await tx
          .insert(signInAttempts)
          .values({ subject, startedAt: now, count: Math.max(0, by) })
          .onConflictDoUpdate({
            target: signInAttempts.subject,
            set: { count: sql`greatest(0, ${signInAttempts.count} + ${by})` },
          })
          .returning({ count: signInAttempts.count });
        const surplus = tx
          .select({ subject: signInAttempts.subject })
          .from(signInAttempts)
          .orderBy(desc(signInAttempts.startedAt))
          .offset(MAX_SUBJECTS);
        await tx.delete(signInAttempts).where(inArray(signInAttempts.subject, surplus));
        return row?.count ?? by;
      }),
    addSession: (session) =>
      transaction(async (tx) => {
        await tx.delete(consoleSessions).where(lte(consoleSessions.expiresAt, session.createdAt));
        await tx.insert(consoleSessions).values(session);
      }),
    findSession: (id, now) =>
      repeatable(async () => {
        const [row] = await orm
          .select()
          .from(consoleSessions)
          .where(and(eq(consoleSessions.id, id), gt(consoleSessions.expiresAt, now)));
        return row;
      }),
    endSession: (id) =>
      repeatable(async () => {
        await orm.delete(consoleSessions).where(eq(consoleSessions.id, id));
      }),
    endSessionsOf: (accountId) =>
      repeatable(async () => {
        await orm.delete(consoleSessions).where(eq(consoleSessions.accountId, accountId));
      }),
  };
}

import { bigserial, index, pgTable, text } from "drizzle-orm/pg-core";
import { jsonText, whole } from "./columns.ts";

/** Who may sign in to the console with a wallet; see the SQLite schema for each column. */
export const accounts = pgTable("accounts", {
  id: text().primaryKey(),
  address: text().notNull().unique(),
  scopes: jsonText<readonly string[]>("scopes"),
  maxKeys: whole("max_keys"),
  maxWindowLimit: whole("max_window_limit"),
  createdAt: whole("created_at").notNull(),
  lastSignInAt: whole("last_sign_in_at").notNull(),
  disabledAt: whole("disabled_at"),
});

/** Leave to sign up, for one wallet each. */
export const invitations = pgTable("invitations", {
  id: text().primaryKey(),
  codeHash: text("code_hash").notNull().unique(),
  note: text().notNull(),
  createdAt: whole("created_at").notNull(),
  expiresAt: whole("expires_at").notNull(),
  accountId: text("account_id").references(() => accounts.id),
  usedAt: whole("used_at"),
  revokedAt: whole("revoked_at"),
});

/** Messages given out to be signed by a wallet; each is taken once. */
export const signInChallenges = pgTable(
  "sign_in_challenges",
  {
    nonce: text().primaryKey(),
    message: text().notNull(),
    expiresAt: whole("expires_at").notNull(),
  },
  (table) => [index("sign_in_challenges_expires").on(table.expiresAt)],
);

/** How often something was tried in a running window. */
export const signInAttempts = pgTable(
  "sign_in_attempts",
  {
    subject: text().primaryKey(),
    startedAt: whole("started_at").notNull(),
    count: whole("count").notNull(),
  },
  (table) => [index("sign_in_attempts_started").on(table.startedAt)],
);

/** Open console sessions. */
export const consoleSessions = pgTable(
  "console_sessions",
  {
    id: text().primaryKey(),
    accountId: text("account_id").references(() => accounts.id),
    credential: text(),
    createdAt: whole("created_at").notNull(),
    expiresAt: whole("expires_at").notNull(),
  },
  (table) => [
    index("console_sessions_account").on(table.accountId),
    index("console_sessions_expires").on(table.expiresAt),
  ],
);

/** When each key was last accepted. */
export const keyLastUsed = pgTable("key_last_used", {
  keyId: text("key_id").primaryKey(),
  at: whole("at").notNull(),
});

/** The newest error answers of each key. */
export const keyErrors = pgTable(
  "key_errors",
  {
    id: bigserial({ mode: "number" }).primaryKey(),
    keyId: text("key_id").notNull(),
    at: whole("at").notNull(),
    requestId: text("request_id").notNull(),
    operation: text(),
    method: text().notNull(),
    path: text().notNull(),
    status: whole("status").notNull(),
    code: text().notNull(),
    message: text().notNull(),
  },
  (table) => [index("key_errors_key").on(table.keyId, table.id)],
);

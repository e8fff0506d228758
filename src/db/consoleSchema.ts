import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Who may sign in to the console with a wallet. Times are ms since the epoch. */
export const accounts = sqliteTable("accounts", {
  id: text().primaryKey(),
  /** Wallet address in lower case. */
  address: text().notNull().unique(),
  /** Scopes its keys may have; null: the service's default. */
  scopes: text({ mode: "json" }).$type<readonly string[]>(),
  /** Keys it may have at a time; null: the service's default. */
  maxKeys: integer("max_keys"),
  /** Largest window limit of one of its keys; null: the service's default. */
  maxWindowLimit: integer("max_window_limit"),
  createdAt: integer("created_at").notNull(),
  lastSignInAt: integer("last_sign_in_at").notNull(),
  /** Since when it may not sign in and its keys are refused. */
  disabledAt: integer("disabled_at"),
});

/** Leave to sign up, for one wallet each. */
export const invitations = sqliteTable("invitations", {
  id: text().primaryKey(),
  /** Hash of the code, which is shown once. */
  codeHash: text("code_hash").notNull().unique(),
  /** For whom it was made, in the operator's words. */
  note: text().notNull(),
  createdAt: integer("created_at").notNull(),
  expiresAt: integer("expires_at").notNull(),
  /** Account that used it. */
  accountId: text("account_id").references(() => accounts.id),
  usedAt: integer("used_at"),
  revokedAt: integer("revoked_at"),
});

/** Messages given out to be signed by a wallet; each is taken once. */
export const signInChallenges = sqliteTable(
  "sign_in_challenges",
  {
    nonce: text().primaryKey(),
    message: text().notNull(),
    expiresAt: integer("expires_at").notNull(),
  },
  (table) => [index("sign_in_challenges_expires").on(table.expiresAt)],
);

/** How often something was tried in a running window, per subject such as `ip:192.0.2.1`. */
export const signInAttempts = sqliteTable(
  "sign_in_attempts",
  {
    subject: text().primaryKey(),
    startedAt: integer("started_at").notNull(),
    count: integer().notNull(),
  },
  (table) => [index("sign_in_attempts_started").on(table.startedAt)],
);

/** Open console sessions; one that is not here has ended. */
export const consoleSessions = sqliteTable(
  "console_sessions",
  {
    id: text().primaryKey(),
    /** Null: the operator's. */
    accountId: text("account_id").references(() => accounts.id),
    /** What the operator's session was opened with; a new admin token ends it. */
    credential: text(),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
  },
  (table) => [
    index("console_sessions_account").on(table.accountId),
    index("console_sessions_expires").on(table.expiresAt),
  ],
);

/** When each key was last accepted. */
export const keyLastUsed = sqliteTable("key_last_used", {
  keyId: text("key_id").primaryKey(),
  at: integer().notNull(),
});

/** The newest error answers of each key; older ones are dropped. */
export const keyErrors = sqliteTable(
  "key_errors",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    keyId: text("key_id").notNull(),
    at: integer().notNull(),
    requestId: text("request_id").notNull(),
    /** Null: the request was no known operation. */
    operation: text(),
    method: text().notNull(),
    path: text().notNull(),
    status: integer().notNull(),
    code: text().notNull(),
    message: text().notNull(),
  },
  (table) => [index("key_errors_key").on(table.keyId, table.id)],
);

import { bigserial, index, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { atomicAmount, jsonText, whole } from "./columns.ts";
import { accounts } from "./consoleSchema.ts";

export * from "./bridgeSchema.ts";
export * from "./consoleSchema.ts";

/** API keys; see the SQLite schema for each column. */
export const keys = pgTable(
  "keys",
  {
    id: text().primaryKey(),
    environment: text({ enum: ["live", "test"] }).notNull(),
    name: text().notNull(),
    scopes: jsonText<readonly string[]>("scopes").notNull(),
    windowLimit: whole("window_limit"),
    cuAllowance: whole("cu_allowance"),
    expiresAt: whole("expires_at"),
    ipAllowList: jsonText<readonly string[]>("ip_allow_list").notNull(),
    bridgePerTransferAtomic: atomicAmount("bridge_per_transfer_atomic"),
    bridgePerDayAtomic: atomicAmount("bridge_per_day_atomic"),
    createdAt: whole("created_at").notNull(),
    revokedAt: whole("revoked_at"),
    accountId: text("account_id").references(() => accounts.id),
  },
  (table) => [index("keys_account").on(table.accountId)],
);

/** What opens a key: keyed hashes only. */
export const keySecrets = pgTable(
  "key_secrets",
  {
    hash: text().primaryKey(),
    keyId: text("key_id")
      .notNull()
      .references(() => keys.id),
    last4: text().notNull(),
    createdAt: whole("created_at").notNull(),
    graceUntil: whole("grace_until"),
    /** In the order they were made, within a millisecond too. */
    seq: bigserial({ mode: "number" }).notNull(),
  },
  (table) => [index("key_secrets_key_id").on(table.keyId)],
);

/**
 * The ledger. Each replica adds to rows of its own slot, so no row is contended; what a key was
 * charged is the sum over all slots.
 */
export const usage = pgTable(
  "usage",
  {
    keyId: text("key_id").notNull(),
    hour: whole("hour").notNull(),
    operation: text().notNull(),
    chainId: whole("chain_id").notNull(),
    slot: whole("slot").notNull(),
    requests: whole("requests").notNull(),
    cu: whole("cu").notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.keyId, table.hour, table.operation, table.chainId, table.slot],
    }),
  ],
);

/** Number of the newest group of charges each process committed, so that none counts twice. */
export const usageCommits = pgTable("usage_commits", {
  process: text().primaryKey(),
  seq: whole("seq").notNull(),
  at: whole("at").notNull(),
});

/** Up to where each slot may bring its own charges of a key's month. */
export const allowanceShares = pgTable(
  "allowance_shares",
  {
    keyId: text("key_id").notNull(),
    /** First hour of the month, hours since the epoch. */
    fromHour: whole("from_hour").notNull(),
    slot: whole("slot").notNull(),
    ceilingCu: whole("ceiling_cu").notNull(),
  },
  (table) => [primaryKey({ columns: [table.keyId, table.fromHour, table.slot] })],
);

/** Who changed what. Triggers refuse updates and deletes. */
export const audit = pgTable("audit", {
  id: bigserial({ mode: "number" }).primaryKey(),
  at: whole("at").notNull(),
  actor: text().notNull(),
  action: text().notNull(),
  subject: text().notNull(),
  detail: jsonText<Readonly<Record<string, unknown>>>("detail").notNull(),
});

/** Single values of the installation. */
export const settings = pgTable("settings", {
  name: text().primaryKey(),
  value: text().notNull(),
});

/** Limits of `eth_getLogs` that upstreams have shown; null: none known. */
export const logCaps = pgTable(
  "log_caps",
  {
    chainId: whole("chain_id").notNull(),
    upstream: text().notNull(),
    maxBlocks: whole("max_blocks"),
    maxResults: whole("max_results"),
    acceptedBlocks: whole("accepted_blocks"),
    learnedAt: whole("learned_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.upstream] })],
);

/** Upstreams that were added or removed while the service ran. */
export const upstreamChanges = pgTable("upstream_changes", {
  id: text().primaryKey(),
  chainId: whole("chain_id").notNull(),
  kind: text({ enum: ["added", "removed"] }).notNull(),
  sealed: text(),
  changedAt: whole("changed_at").notNull(),
});

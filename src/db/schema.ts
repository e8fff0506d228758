import { customType, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { accounts } from "./consoleSchema.ts";

export * from "./bridgeSchema.ts";
export * from "./consoleSchema.ts";

/** An amount in atomic units, as decimal text. */
const atomicAmount = customType<{ data: bigint; driverData: string }>({
  dataType: () => "text",
  toDriver: String,
  fromDriver: BigInt,
});

/** API keys. Times are ms since the epoch; a key outlives its secrets. */
export const keys = sqliteTable(
  "keys",
  {
    id: text().primaryKey(),
    environment: text({ enum: ["live", "test"] }).notNull(),
    name: text().notNull(),
    scopes: text({ mode: "json" }).$type<readonly string[]>().notNull(),
    /** Requests per window; null: the service's default. */
    windowLimit: integer("window_limit"),
    /** Compute units per calendar month (UTC); null: no bound. */
    cuAllowance: integer("cu_allowance"),
    expiresAt: integer("expires_at"),
    /** CIDR blocks; empty: any address. */
    ipAllowList: text("ip_allow_list", { mode: "json" }).$type<readonly string[]>().notNull(),
    /** Most USDC of one bridge transfer, atomic; null: the operator's bound alone. */
    bridgePerTransferAtomic: atomicAmount("bridge_per_transfer_atomic"),
    /** Most USDC that leaves in a day (UTC), atomic; null: the operator's bound alone. */
    bridgePerDayAtomic: atomicAmount("bridge_per_day_atomic"),
    createdAt: integer("created_at").notNull(),
    revokedAt: integer("revoked_at"),
    /** Who it belongs to; null: the operator. */
    accountId: text("account_id").references(() => accounts.id),
  },
  (table) => [index("keys_account").on(table.accountId)],
);

/** What opens a key: keyed hashes only. A rotated key has an old secret until its grace ends. */
export const keySecrets = sqliteTable(
  "key_secrets",
  {
    hash: text().primaryKey(),
    keyId: text("key_id")
      .notNull()
      .references(() => keys.id),
    last4: text().notNull(),
    createdAt: integer("created_at").notNull(),
    /** End of the grace after a rotation; null: as long as the key. */
    graceUntil: integer("grace_until"),
  },
  (table) => [index("key_secrets_key_id").on(table.keyId)],
);

/**
 * What a secret's hash opens, all in one row, so that a key is checked by one look into one tree.
 * Triggers of the migration keep it as the tables say of which it is made.
 */
export const keyLookup = sqliteTable("key_lookup", {
  hash: text().primaryKey(),
  /** Columns of key, secret and account, as the view `key_records` orders them. */
  record: text().notNull(),
});

/** The ledger: what each key was charged, per operation, chain and hour. */
export const usage = sqliteTable(
  "usage",
  {
    keyId: text("key_id").notNull(),
    /** Hours since the epoch (UTC). */
    hour: integer().notNull(),
    operation: text().notNull(),
    /** 0: the operation has no chain. */
    chainId: integer("chain_id").notNull(),
    requests: integer().notNull(),
    cu: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.keyId, table.hour, table.operation, table.chainId] })],
);

/** Files beside the database that hold charges which are not all in the ledger yet. */
export const chargeFiles = sqliteTable("charge_files", {
  name: text().primaryKey(),
  /** Of the file's charges, those of keys up to here are in the ledger; empty: none. */
  foldedTo: text("folded_to").notNull().default(""),
});

/** Who changed what. Triggers of the second migration refuse updates and deletes. */
export const audit = sqliteTable("audit", {
  id: integer().primaryKey({ autoIncrement: true }),
  at: integer().notNull(),
  actor: text().notNull(),
  action: text().notNull(),
  subject: text().notNull(),
  detail: text({ mode: "json" }).$type<Readonly<Record<string, unknown>>>().notNull(),
});

/** Single values of the installation. */
export const settings = sqliteTable("settings", {
  name: text().primaryKey(),
  value: text().notNull(),
});

/** Limits of `eth_getLogs` that upstreams have shown; null: none known. */
export const logCaps = sqliteTable(
  "log_caps",
  {
    chainId: integer("chain_id").notNull(),
    upstream: text().notNull(),
    maxBlocks: integer("max_blocks"),
    maxResults: integer("max_results"),
    acceptedBlocks: integer("accepted_blocks"),
    learnedAt: integer("learned_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.upstream] })],
);

/** Upstreams that were added or removed while the service ran; they outlive it. */
export const upstreamChanges = sqliteTable("upstream_changes", {
  /** Names chain and URL without showing the URL. */
  id: text().primaryKey(),
  chainId: integer("chain_id").notNull(),
  kind: text({ enum: ["added", "removed"] }).notNull(),
  /** The entry with its URL, encrypted; null for one that was removed. */
  sealed: text(),
  changedAt: integer("changed_at").notNull(),
});

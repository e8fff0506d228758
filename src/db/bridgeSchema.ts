import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

/** Bridge transfers. Times are ms since the epoch; amounts atomic USDC as decimal text. */
export const bridgeTransfers = sqliteTable(
  "bridge_transfers",
  {
    id: text().primaryKey(),
    keyId: text("key_id").notNull(),
    state: text().notNull(),
    fromChainId: integer("from_chain_id").notNull(),
    toChainId: integer("to_chain_id").notNull(),
    amount: text().notNull(),
    /** Burned on top of the amount. */
    maxFee: text("max_fee").notNull(),
    recipient: text().notNull(),
    /** 32 bytes, hex: who is minted to; on Solana the recipient's token account. */
    mintRecipient: text("mint_recipient").notNull(),
    sender: text(),
    useForwarder: integer("use_forwarder", { mode: "boolean" }).notNull(),
    minFinalityThreshold: integer("min_finality_threshold").notNull(),
    hookData: text("hook_data").notNull(),
    authorization: text({ mode: "json" }).$type<Readonly<Record<string, unknown>>>(),
    estimatedTime: text("estimated_time").notNull(),
    /** Head of the destination when the transfer was made: no mint is before it. */
    destinationBlock: integer("destination_block").notNull(),
    /** Hash the caller was answered with. */
    transactionHash: text("transaction_hash"),
    burnHash: text("burn_hash"),
    /** Position of our message among those of the burn's transaction. */
    messageIndex: integer("message_index"),
    message: text(),
    attestation: text(),
    feeExecuted: text("fee_executed"),
    delayReason: text("delay_reason"),
    mintHash: text("mint_hash"),
    /** What an operator should look at; null: nothing. */
    attention: text(),
    /** Checks since the state was reached that brought nothing new. */
    checks: integer().notNull(),
    nextCheckAt: integer("next_check_at").notNull(),
    createdAt: integer("created_at").notNull(),
    /** When the state was reached. */
    stateAt: integer("state_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
  },
  (table) => [
    index("bridge_transfers_due").on(table.state, table.nextCheckAt),
    index("bridge_transfers_key").on(table.keyId, table.createdAt),
    index("bridge_transfers_created").on(table.createdAt),
  ],
);

/** Which transfer a key's `Idempotency-Key` stands for. */
export const bridgeIdempotency = sqliteTable(
  "bridge_idempotency",
  {
    keyId: text("key_id").notNull(),
    idempotencyKey: text("idempotency_key").notNull(),
    bodyHash: text("body_hash").notNull(),
    transferId: text("transfer_id")
      .notNull()
      .references(() => bridgeTransfers.id),
  },
  (table) => [primaryKey({ columns: [table.keyId, table.idempotencyKey] })],
);

/** Every nonce the operator's wallet was given out for. */
export const bridgeNonces = sqliteTable(
  "bridge_nonces",
  {
    chainId: integer("chain_id").notNull(),
    signer: text().notNull(),
    nonce: integer().notNull(),
    transferId: text("transfer_id")
      .notNull()
      .references(() => bridgeTransfers.id),
    purpose: text().notNull(),
    /** The chain used the nonce for a transaction that does not serve this purpose any more. */
    spent: integer({ mode: "boolean" }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.signer, table.nonce] }),
    index("bridge_nonces_transfer").on(table.transferId),
  ],
);

/** Every transaction that was ever signed, stored before it was sent. */
export const bridgeTransactions = sqliteTable(
  "bridge_transactions",
  {
    hash: text().primaryKey(),
    transferId: text("transfer_id")
      .notNull()
      .references(() => bridgeTransfers.id),
    chainId: integer("chain_id").notNull(),
    signer: text().notNull(),
    purpose: text().notNull(),
    /** Null on Solana, which has none. */
    nonce: integer(),
    raw: text().notNull(),
    /** Wei. */
    maxFeePerGas: text("max_fee_per_gas"),
    maxPriorityFeePerGas: text("max_priority_fee_per_gas"),
    /** Solana: last block height at which it can be included. */
    validUntilHeight: integer("valid_until_height"),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    index("bridge_transactions_transfer").on(table.transferId),
    uniqueIndex("bridge_transactions_raw").on(table.raw),
  ],
);

/** What happened to each transfer. Triggers refuse updates and deletes. */
export const bridgeEvents = sqliteTable(
  "bridge_events",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    transferId: text("transfer_id").notNull(),
    at: integer().notNull(),
    fromState: text("from_state"),
    toState: text("to_state").notNull(),
    event: text().notNull(),
    detail: text({ mode: "json" }).$type<Readonly<Record<string, unknown>>>().notNull(),
  },
  (table) => [index("bridge_events_transfer").on(table.transferId)],
);

/** Who may do work that only one process may do, and until when. */
export const leases = sqliteTable("leases", {
  name: text().primaryKey(),
  owner: text().notNull(),
  until: integer().notNull(),
});

import { sql } from "drizzle-orm";
import {
  bigserial,
  boolean,
  index,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { atomicAmount, jsonText, whole } from "./columns.ts";

/** Bridge transfers; see the SQLite schema for each column. */
export const bridgeTransfers = pgTable(
  "bridge_transfers",
  {
    id: text().primaryKey(),
    keyId: text("key_id").notNull(),
    state: text().notNull(),
    fromChainId: whole("from_chain_id").notNull(),
    toChainId: whole("to_chain_id").notNull(),
    amount: atomicAmount("amount").notNull(),
    maxFee: atomicAmount("max_fee").notNull(),
    recipient: text().notNull(),
    mintRecipient: text("mint_recipient").notNull(),
    sender: text(),
    useForwarder: boolean("use_forwarder").notNull(),
    minFinalityThreshold: whole("min_finality_threshold").notNull(),
    hookData: text("hook_data").notNull(),
    authorization: jsonText<Readonly<Record<string, unknown>>>("authorization"),
    estimatedTime: text("estimated_time").notNull(),
    destinationBlock: whole("destination_block").notNull(),
    transactionHash: text("transaction_hash"),
    burnHash: text("burn_hash"),
    messageIndex: whole("message_index"),
    message: text(),
    attestation: text(),
    feeExecuted: atomicAmount("fee_executed"),
    delayReason: text("delay_reason"),
    mintHash: text("mint_hash"),
    attention: text(),
    checks: whole("checks").notNull(),
    nextCheckAt: whole("next_check_at").notNull(),
    createdAt: whole("created_at").notNull(),
    stateAt: whole("state_at").notNull(),
    updatedAt: whole("updated_at").notNull(),
    /** In the order they were made, within a millisecond too. */
    seq: bigserial({ mode: "number" }).notNull(),
  },
  (table) => [
    index("bridge_transfers_due").on(table.state, table.nextCheckAt),
    index("bridge_transfers_key").on(table.keyId, table.createdAt),
    index("bridge_transfers_created").on(table.createdAt),
  ],
);

/** Which transfer a key's `Idempotency-Key` stands for. */
export const bridgeIdempotency = pgTable(
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
export const bridgeNonces = pgTable(
  "bridge_nonces",
  {
    chainId: whole("chain_id").notNull(),
    signer: text().notNull(),
    nonce: whole("nonce").notNull(),
    transferId: text("transfer_id")
      .notNull()
      .references(() => bridgeTransfers.id),
    purpose: text().notNull(),
    spent: boolean().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.signer, table.nonce] }),
    index("bridge_nonces_transfer").on(table.transferId),
  ],
);

/** Every transaction that was ever signed, stored before it was sent. */
export const bridgeTransactions = pgTable(
  "bridge_transactions",
  {
    hash: text().primaryKey(),
    transferId: text("transfer_id")
      .notNull()
      .references(() => bridgeTransfers.id),
    chainId: whole("chain_id").notNull(),
    signer: text().notNull(),
    purpose: text().notNull(),
    nonce: whole("nonce"),
    raw: text().notNull(),
    maxFeePerGas: atomicAmount("max_fee_per_gas"),
    maxPriorityFeePerGas: atomicAmount("max_priority_fee_per_gas"),
    validUntilHeight: whole("valid_until_height"),
    createdAt: whole("created_at").notNull(),
    seq: bigserial({ mode: "number" }).notNull(),
  },
  (table) => [
    index("bridge_transactions_transfer").on(table.transferId),
    // The bytes are too long for an index of their own.
    uniqueIndex("bridge_transactions_raw").on(sql`md5(${table.raw})`),
  ],
);

/** What happened to each transfer. Triggers refuse updates and deletes. */
export const bridgeEvents = pgTable(
  "bridge_events",
  {
    id: bigserial({ mode: "number" }).primaryKey(),
    transferId: text("transfer_id").notNull(),
    at: whole("at").notNull(),
    fromState: text("from_state"),
    toState: text("to_state").notNull(),
    event: text().notNull(),
    detail: jsonText<Readonly<Record<string, unknown>>>("detail").notNull(),
  },
  (table) => [index("bridge_events_transfer").on(table.transferId)],
);

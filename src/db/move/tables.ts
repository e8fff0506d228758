import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import * as schema from "../postgres/schema.ts";

/** A table as it is moved. */
export interface MovedTable {
  readonly name: string;
  /** Columns both engines have, with their Postgres types. */
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** Whether its `id` is drawn from a sequence, which must go on after the moved rows. */
  readonly hasSequence: boolean;
}

/** Rows that refer to others come after them. */
const order: readonly PgTable[] = [
  schema.settings,
  schema.accounts,
  schema.invitations,
  schema.keys,
  schema.keySecrets,
  schema.usage,
  schema.audit,
  schema.logCaps,
  schema.upstreamChanges,
  schema.bridgeTransfers,
  schema.bridgeIdempotency,
  schema.bridgeNonces,
  schema.bridgeTransactions,
  schema.bridgeEvents,
  schema.consoleSessions,
  schema.signInChallenges,
  schema.signInAttempts,
  schema.keyLastUsed,
  schema.keyErrors,
];

/** Columns that only Postgres has; it fills them in by itself. */
const ownColumns: ReadonlySet<string> = new Set(["seq", "slot"]);

/** Every table that is moved, in an order their references allow. */
export const movedTables: readonly MovedTable[] = order.map((table) => {
  const { name, columns } = getTableConfig(table);
  return {
    name,
    columns: columns
      .filter((column) => !ownColumns.has(column.name))
      .map((column) => ({ name: column.name, type: column.getSQLType().replace("serial", "int") })),
    hasSequence: columns.some(
      (column) => column.name === "id" && column.getSQLType() === "bigserial",
    ),
  };
});

import { Database } from "bun:sqlite";

/** Children before what they refer to. */
const TABLES = [
  "bridge_events",
  "bridge_transactions",
  "bridge_nonces",
  "bridge_idempotency",
  "bridge_transfers",
  "leases",
];

/**
 * Forgets the bridge's transfers and nonces of the last run: they are of chains that are gone.
 * @param file - the service's database, which nobody else has open
 */
export function forgetTransfers(file: string): void {
  const database = new Database(file, { strict: true });
  try {
    database
      .transaction(() => {
        const triggers = database
          .query<{ name: string; sql: string }, []>(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'bridge_events'",
          )
          .all();
        for (const { name } of triggers) database.run(`DROP TRIGGER ${name}`);
        for (const table of TABLES) database.run(`DELETE FROM ${table}`);
        for (const { sql } of triggers) database.run(sql);
      })
      .immediate();
  } finally {
    database.close();
  }
}

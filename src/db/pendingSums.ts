import type { Database as SqliteFile } from "bun:sqlite";
import type { ChargeLine, ChargeValues } from "./chargeFile.ts";

/** Charges of one file, as they stand in the table of sums. */
export interface PendingPart {
  /** Tells them from those of other files. */
  readonly generation: number;
  /** The file's. */
  readonly name: string;
  /** Those of keys up to here are in the ledger; empty: none. */
  readonly foldedTo: string;
}

/** Sums of charges that are not in the ledger yet: a table in this connection's memory. */
export interface PendingSums {
  add(charge: ChargeValues, generation: number, at: number): void;
  /** Adds what a file holds and the ledger does not. @returns how many rows that were */
  load(part: PendingPart, lines: Iterable<ChargeLine>): number;
  drop(generation: number): void;
}

const TABLE = `
  CREATE TEMP TABLE usage_pending (
    key_id TEXT NOT NULL, hour INTEGER NOT NULL, operation TEXT NOT NULL, chain_id INTEGER NOT NULL,
    generation INTEGER NOT NULL, requests INTEGER NOT NULL, cu INTEGER NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (key_id, hour, operation, chain_id, generation)
  ) WITHOUT ROWID`;
const ADD = `
  INSERT INTO temp.usage_pending VALUES (?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, cu = cu + excluded.cu,
    at = max(at, excluded.at)`;

/** Makes the connection's table. */
export function createPendingSums(client: SqliteFile): PendingSums {
  client.run(TABLE);
  const addRow = client.query(ADD);
  const dropRows = client.query<null, [number]>(
    "DELETE FROM temp.usage_pending WHERE generation = ?",
  );

  const add: PendingSums["add"] = (charge, generation, at) => {
    const [keyId, hour, operation, chainId, requests, cu] = charge;
    addRow.run(keyId, hour, operation, chainId, generation, requests, cu, at);
  };
  return {
    add,
    load({ generation, foldedTo }, lines) {
      let rows = 0;
      for (const { at, charges } of lines) {
        for (const charge of charges) {
          if (charge[0] <= foldedTo) continue;
          add(charge, generation, at);
          rows++;
        }
      }
      return rows;
    },
    drop: (generation) => void dropRows.run(generation),
  };
}

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, openDatabase } from "../../src/db/index.ts";

export interface OpenedDatabase extends Disposable {
  readonly database: Database;
}

/** Every storage engine the service can run on; all must keep the same promises. */
export const engines: readonly { name: string; open: () => Promise<OpenedDatabase> }[] = [
  {
    name: "SQLite",
    async open() {
      const directory = mkdtempSync(join(tmpdir(), "causeway-test-"));
      const database = openDatabase(`file:${join(directory, "causeway.db")}`);
      return {
        database,
        [Symbol.dispose]() {
          database.close();
          rmSync(directory, { recursive: true, force: true });
        },
      };
    },
  },
];

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, openDatabase } from "../../src/db/index.ts";
import { hasStorageServers } from "../support/installed.ts";
import { testPostgres } from "../support/storage.ts";

export interface OpenedDatabase extends Disposable {
  readonly database: Database;
  /** Opens the same database once more, as another process would. */
  again(): Promise<Database>;
}

const known: readonly { name: string; open: () => Promise<OpenedDatabase> }[] = [
  {
    name: "SQLite",
    async open() {
      const directory = mkdtempSync(join(tmpdir(), "causeway-test-"));
      const url = `file:${join(directory, "causeway.db")}`;
      const clean = () => rmSync(directory, { recursive: true, force: true });
      return opened(url, await openDatabase(url), clean);
    },
  },
  {
    name: "Postgres",
    async open() {
      const url = await (await testPostgres()).createDatabase();
      return opened(url, await openDatabase(url));
    },
  },
];

/** Every storage engine the service can run on; all must keep the same promises. */
export const engines = known.filter(({ name }) => name !== "Postgres" || hasStorageServers);

function opened(url: string, database: Database, clean = () => {}): OpenedDatabase {
  const all = [database];
  return {
    database,
    async again() {
      const other = await openDatabase(url);
      all.push(other);
      return other;
    },
    [Symbol.dispose]() {
      for (const each of all) each.close();
      clean();
    },
  };
}

import type { Database as SqliteFile } from "bun:sqlite";
import { join } from "node:path";
import { readMigrationFiles } from "drizzle-orm/migrator";

const MIGRATIONS_FOLDER = join(import.meta.dir, "migrations");

/**
 * Applies the migrations that are not yet applied, all in one transaction that takes the write
 * lock first, so that of two processes starting at once one migrates and the other finds it done.
 */
export function migrate(client: SqliteFile): void {
  const migrations = readMigrationFiles({ migrationsFolder: MIGRATIONS_FOLDER });
  client
    .transaction(() => {
      client.run(
        "CREATE TABLE IF NOT EXISTS migrations (hash TEXT PRIMARY KEY, created_at INTEGER NOT NULL)",
      );
      const isApplied = client.query("SELECT 1 FROM migrations WHERE hash = ?");
      const record = client.query("INSERT INTO migrations (hash, created_at) VALUES (?, ?)");
      for (const migration of migrations) {
        if (isApplied.get(migration.hash)) continue;
        for (const statement of migration.sql) client.run(statement);
        record.run(migration.hash, migration.folderMillis);
      }
    })
    .immediate();
}

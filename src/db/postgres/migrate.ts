import { join } from "node:path";
import { readMigrationFiles } from "drizzle-orm/migrator";
import type { PostgresConnection } from "./connection.ts";

const MIGRATIONS_FOLDER = join(import.meta.dir, "migrations");
/** Advisory lock of whoever migrates. */
const MIGRATION_LOCK = 0x4341_5553;

/**
 * Applies the migrations that are not yet applied, in one transaction, one process at a time.
 */
export async function migrate({ client, once }: PostgresConnection): Promise<void> {
  const migrations = readMigrationFiles({ migrationsFolder: MIGRATIONS_FOLDER });
  await once(() =>
    client.begin(async (tx) => {
      await tx`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`;
      await tx`CREATE TABLE IF NOT EXISTS migrations (hash text PRIMARY KEY, created_at bigint NOT NULL)`;
      const rows: { hash: string }[] = await tx`SELECT hash FROM migrations`;
      const applied = new Set(rows.map(({ hash }) => hash));
      for (const { hash, sql, folderMillis } of migrations) {
        if (applied.has(hash)) continue;
        for (const statement of sql) await tx.unsafe(statement);
        await tx`INSERT INTO migrations (hash, created_at) VALUES (${hash}, ${folderMillis})`;
      }
    }),
  );
}

import { Database as SqliteFile } from "bun:sqlite";
import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import { migrate } from "./migrate.ts";
import * as schema from "./schema.ts";

/** What the SQLite stores work with: Drizzle for building queries, the connection beneath it. */
export interface SqliteConnection {
  readonly orm: BunSQLiteDatabase<typeof schema>;
  readonly client: SqliteFile;
}

const BUSY_TIMEOUT_MS = 5_000;
/** Enough for the upper levels of the trees of a million keys. */
const CACHE_KIB = 16_384;
/**
 * Pages of the log after which it is brought into the database, 32 MiB: this waits for what is not on
 * the disk yet, of which `diskSync.ts` leaves little, and so do answers meanwhile. The same few pages are
 * written again and again, so doing it more rarely takes hardly longer each time.
 */
const CHECKPOINT_PAGES = 8_192;

/**
 * Opens a SQLite database and brings it to the newest schema.
 * A new file is readable by its owner only; SQLite gives its WAL the same mode.
 * @param file - path, or `:memory:`
 */
export function openSqlite(file: string): SqliteConnection {
  if (file !== ":memory:") {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    closeSync(openSync(file, "a", 0o600));
    chmodSync(file, 0o600);
  }
  const client = new SqliteFile(file, { create: true, strict: true });
  // First of all: switching to WAL may itself have to wait for another process.
  client.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  client.run("PRAGMA journal_mode = WAL");
  client.run("PRAGMA synchronous = NORMAL");
  client.run("PRAGMA foreign_keys = ON");
  client.run("PRAGMA temp_store = MEMORY");
  client.run(`PRAGMA cache_size = -${CACHE_KIB}`);
  client.run(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  migrate(client);
  return { orm: drizzle(client, { schema }), client };
}

import { ConfigError } from "../config/index.ts";
import { createAuditStore } from "./auditStore.ts";
import { createBridgeStore } from "./bridgeStore.ts";
import { createKeyStore } from "./keyStore.ts";
import { createSettingsStore } from "./settingsStore.ts";
import { createLogCapStore } from "./logCapStore.ts";
import { openSqlite } from "./sqlite.ts";
import type { Database } from "./types.ts";
import { createUpstreamChangeStore } from "./upstreamChangeStore.ts";
import { createUsageStore } from "./usageStore.ts";

export type {
  BridgeStore,
  StoredTransaction,
  StoredTransfer,
  TransferChanges,
  TransferEventEntry,
  TransferStep,
} from "./bridgeTypes.ts";
export type {
  AuditEntry,
  AuditStore,
  Awaitable,
  Database,
  KeyStore,
  LogCap,
  LogCapStore,
  SettingsStore,
  StoredKey,
  StoredSecret,
  UpstreamChange,
  UpstreamChangeStore,
  UsageRow,
  UsageStore,
  UsageSum,
} from "./types.ts";

/**
 * Opens the database a URL names and brings it to the newest schema.
 * @param url - `file:<path>` or `:memory:`
 * @throws ConfigError when the URL names no database this build can open
 */
export function openDatabase(url: string): Database {
  const file = sqliteFile(url);
  const connection = openSqlite(file);
  return {
    keys: createKeyStore(connection),
    usage: createUsageStore(connection),
    audit: createAuditStore(connection),
    settings: createSettingsStore(connection),
    logCaps: createLogCapStore(connection),
    upstreamChanges: createUpstreamChangeStore(connection),
    bridge: createBridgeStore(connection),
    file: file === ":memory:" ? undefined : file,
    close: () => connection.client.close(),
  };
}

function sqliteFile(url: string): string {
  if (url === ":memory:" || url === "file::memory:") return ":memory:";
  if (url.startsWith("file:") && url.length > "file:".length) {
    const path = url.slice("file:".length);
    // file:///var/lib/x and file:relative/x are both in use.
    return path.startsWith("//") ? path.slice(2) : path;
  }
  if (/^postgres(ql)?:/.test(url)) {
    throw new ConfigError("DATABASE_URL: Postgres is not supported, use file:<path>");
  }
  throw new ConfigError("DATABASE_URL must be file:<path>");
}

import { ConfigError, isPostgresUrl } from "../config/index.ts";
import { createAccountStore } from "./accountStore.ts";
import { createActivityStore } from "./activityStore.ts";
import { createAuditStore } from "./auditStore.ts";
import { createBridgeStore } from "./bridgeStore.ts";
import { createInvitationStore } from "./invitationStore.ts";
import { createKeysRevision } from "./keysRevision.ts";
import { createKeyStore } from "./keyStore.ts";
import { createSettingsStore } from "./settingsStore.ts";
import { createLogCapStore } from "./logCapStore.ts";
import { syncInBackground } from "./diskSync.ts";
import { createSignInStore } from "./signInStore.ts";
import { openSqlite } from "./sqlite.ts";
import { createSqlitePeers } from "./sqlitePeers.ts";
import { openPostgres } from "./postgres/database.ts";
import type { Awaitable, Database } from "./types.ts";
import { createUpstreamChangeStore } from "./upstreamChangeStore.ts";
import { createUsageJournal } from "./usageJournal.ts";
import { createUsageStore } from "./usageStore.ts";

export type {
  BridgeStore,
  StoredTransaction,
  StoredTransfer,
  TransferChanges,
  TransferEventEntry,
  TransferStep,
} from "./bridgeTypes.ts";
export { createPeerWatch, type PeerWatch } from "./peerWatch.ts";
export type { Peers } from "./peers.ts";
export { type ChangeBus, createChangeBus } from "./redis/bus.ts";
export { createRedisLink, type RedisLink } from "./redis/link.ts";
export type {
  AccountChanges,
  AccountStore,
  ActivityStore,
  InvitationStore,
  KeyErrorEntry,
  SignInStore,
  StoredAccount,
  StoredInvitation,
  StoredSession,
} from "./consoleTypes.ts";
export type {
  AuditEntry,
  AuditStore,
  Awaitable,
  Database,
  KeyChanges,
  KeyStore,
  LogCap,
  LogCapStore,
  SettingsStore,
  StoredKey,
  StoredSecret,
  UpstreamChange,
  UpstreamChangeStore,
  UsageHour,
  UsageRow,
  UsageStore,
  UsageSum,
} from "./types.ts";

/**
 * Opens the database a URL names and brings it to the newest schema.
 * @param url - `file:<path>`, `:memory:` or `postgres://user:password@host:port/name`
 * @throws ConfigError when the URL names no database
 */
export function openDatabase(url: `file:${string}` | ":memory:"): Database;
export function openDatabase(url: string): Awaitable<Database>;
export function openDatabase(url: string): Awaitable<Database> {
  return isPostgresUrl(url) ? openPostgres(url) : openSqliteDatabase(url);
}

function openSqliteDatabase(url: string): Database {
  const file = sqliteFile(url);
  const connection = openSqlite(file);
  const keysRevision = createKeysRevision(connection);
  const journal = createUsageJournal(connection);
  const usage = createUsageStore(connection, journal);
  const stopSync = file === ":memory:" ? undefined : syncInBackground(connection, journal, file);
  return {
    keys: createKeyStore(connection, keysRevision),
    usage,
    audit: createAuditStore(connection),
    settings: createSettingsStore(connection),
    logCaps: createLogCapStore(connection),
    upstreamChanges: createUpstreamChangeStore(connection),
    bridge: createBridgeStore(connection),
    accounts: createAccountStore(connection, keysRevision),
    invitations: createInvitationStore(connection),
    signIn: createSignInStore(connection),
    activity: createActivityStore(connection, journal),
    peers: createSqlitePeers(connection, journal),
    file: file === ":memory:" ? undefined : file,
    close() {
      usage.close();
      stopSync?.();
      journal.close();
      connection.client.close();
    },
  };
}

function sqliteFile(url: string): string {
  if (url === ":memory:" || url === "file::memory:") return ":memory:";
  if (url.startsWith("file:") && url.length > "file:".length) {
    const path = url.slice("file:".length);
    // file:///var/lib/x and file:relative/x are both in use.
    return path.startsWith("//") ? path.slice(2) : path;
  }
  throw new ConfigError("DATABASE_URL must be file:<path> or postgres://…");
}

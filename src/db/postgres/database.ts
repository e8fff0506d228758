import { ConfigError } from "../../config/index.ts";
import type { Database } from "../types.ts";
import { createAccountStore, createInvitationStore } from "./accountStore.ts";
import { createActivityStore } from "./activityStore.ts";
import { createAuditStore } from "./auditStore.ts";
import { createBridgeStore } from "./bridgeStore.ts";
import { connectPostgres, openPool, type PostgresConnection } from "./connection.ts";
import { createKeyStore } from "./keyStore.ts";
import { createLogCapStore } from "./logCapStore.ts";
import { migrate } from "./migrate.ts";
import { createPeers, forgetSlot } from "./peers.ts";
import { Presence } from "./presence.ts";
import { Revisions } from "./revisions.ts";
import { createSignInStore } from "./signInStore.ts";
import { createSettingsStore } from "./settingsStore.ts";
import { createUpstreamChangeStore } from "./upstreamChangeStore.ts";
import { createUsageStore } from "./usageStore.ts";

/**
 * Opens a Postgres database and brings it to the newest schema.
 * @param url - `postgres://user:password@host:port/name`
 * @throws ConfigError when it cannot be reached for a while, or refuses
 */
export async function openPostgres(url: string): Promise<Database> {
  const client = openPool(url);
  const connection = connectPostgres(client);
  const presence = new Presence(url, (slot) => forgetSlot(connection, slot));
  const close = () => {
    presence.close();
    void client.close({ timeout: 0 });
  };
  try {
    await migrate(connection);
    const revisions = new Revisions(connection);
    await revisions.refresh();
    return { ...createStores(connection, presence, revisions), file: undefined, close };
  } catch (error) {
    close();
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`DATABASE_URL: the database cannot be opened: ${reason}`, {
      cause: error,
    });
  }
}

function createStores(
  connection: PostgresConnection,
  presence: Presence,
  revisions: Revisions,
): Omit<Database, "file" | "close"> {
  return {
    keys: createKeyStore(connection, revisions),
    usage: createUsageStore(connection, presence),
    audit: createAuditStore(connection),
    settings: createSettingsStore(connection),
    logCaps: createLogCapStore(connection),
    upstreamChanges: createUpstreamChangeStore(connection, revisions),
    bridge: createBridgeStore(connection, presence),
    accounts: createAccountStore(connection, revisions),
    invitations: createInvitationStore(connection),
    signIn: createSignInStore(connection),
    activity: createActivityStore(connection),
    peers: createPeers(connection, presence, revisions),
  };
}

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type KeyService, openKeyService, scopes, UNLIMITED_WINDOW } from "../access/index.ts";
import { openDatabase } from "../db/index.ts";
import { type KeyName, keyNames } from "./info.ts";

/** Secrets of a sandbox, kept so that a restart changes none of them. */
export interface SandboxSecrets {
  readonly adminToken: string;
  readonly keys: Readonly<Record<KeyName, string>>;
}

/**
 * The sandbox's keys: those of the last run where they are still valid, new ones where not.
 * @param databaseUrl - the service's database; closed again before this returns
 */
export async function prepareSecrets(dir: string, databaseUrl: string): Promise<SandboxSecrets> {
  const file = join(dir, "secrets.json");
  const kept = readKept(file);
  const database = await openDatabase(databaseUrl);
  try {
    const service = await openKeyService(database);
    const entries: [string, string][] = [];
    for (const name of keyNames) {
      entries.push([name, await keptOrNew(service, name, kept.keys?.[name])]);
    }
    const secrets: SandboxSecrets = {
      adminToken: kept.adminToken ?? randomToken(),
      keys: Object.fromEntries(entries) as Record<KeyName, string>,
    };
    writeFileSync(file, JSON.stringify(secrets, undefined, 2), { mode: 0o600 });
    return secrets;
  } finally {
    database.close();
  }
}

async function keptOrNew(
  service: KeyService,
  name: KeyName,
  kept: string | undefined,
): Promise<string> {
  if (kept && (await service.verify(kept))) return kept;
  const { secret } = await service.create(
    {
      environment: "test",
      name: `sandbox ${name}`,
      scopes: name === "all" || name === "bench" ? scopes : [name],
      windowLimit: name === "bench" ? UNLIMITED_WINDOW : null,
    },
    "sandbox",
  );
  return secret;
}

function readKept(file: string): Partial<SandboxSecrets> {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return {};
  }
}

function randomToken(): string {
  return crypto.getRandomValues(new Uint8Array(24)).toHex();
}

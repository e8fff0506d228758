import { writeFileSync } from "node:fs";
import { generateKey, hashKey } from "../../src/access/key.ts";
import { keySecrets, keys } from "../../src/db/schema.ts";
import { openSqlite } from "../../src/db/sqlite.ts";
import { sql } from "drizzle-orm";

/** Pepper of services whose keys are made here. */
export const KEY_PEPPER = "be".repeat(32);
/** Above what any load can reach, so that windows are counted and never full. */
const WINDOW_LIMIT = 1_000_000_000;

/**
 * Makes keys straight in a service's database, a million in some 20 s, and writes secrets to a file,
 * one per line.
 * @param inUse - how many secrets are written at most
 */
export function loadKeys(databaseFile: string, keysFile: string, count: number, inUse: number) {
  const { orm, client } = openSqlite(databaseFile);
  const pepper = Buffer.from(KEY_PEPPER, "hex");
  const createdAt = Date.now();
  const key = {
    environment: "test",
    name: "bench",
    scopes: ["read", "swaps"],
    ipAllowList: [],
    windowLimit: WINDOW_LIMIT,
    createdAt,
  } as const;
  const id = sql.placeholder("id");
  const addKey = orm
    .insert(keys)
    .values({ ...key, id })
    .prepare();
  const addSecret = orm
    .insert(keySecrets)
    .values({ keyId: id, hash: sql.placeholder("hash"), last4: "0000", createdAt })
    .prepare();
  const secrets = Array.from({ length: count }, () => generateKey("test"));
  client.transaction(() => {
    for (const [index, secret] of secrets.entries()) {
      const row = { id: keyIdOf(index), hash: hashKey(secret, pepper) };
      addKey.run(row);
      addSecret.run(row);
    }
  })();
  client.close();
  writeFileSync(
    keysFile,
    secrets
      .slice(0, inUse)
      .map((secret) => `${secret}\n`)
      .join(""),
  );
}

/** Id of the n-th key, as long as those the service makes. */
function keyIdOf(index: number): string {
  return `key_${index.toString(16).padStart(16, "0")}`;
}

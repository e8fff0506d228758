import { expect, setDefaultTimeout } from "bun:test";
import { SQL } from "bun";
import { openDatabase } from "../../src/db/index.ts";
import { testWithServers } from "../support/installed.ts";
import { testPostgres } from "../support/storage.ts";

setDefaultTimeout(60_000);

testWithServers(
  "processes that start at once on a new database all come up, with one schema",
  async () => {
    const url = await (await testPostgres()).createDatabase();
    const all = await Promise.all(Array.from({ length: 4 }, () => openDatabase(url)));
    await all[0]!.settings.set("name", "value");
    for (const database of all) {
      expect(await database.settings.get("name")).toBe("value");
      database.close();
    }
    const client = new SQL({ url, max: 1 });
    const hashes = await client`SELECT hash FROM migrations`;
    expect(new Set(hashes.map(({ hash }: { hash: string }) => hash)).size).toBe(hashes.length);
    await client.close({ timeout: 0 });
  },
);

testWithServers.each(["audit", "bridge_events"])(
  "%s cannot be changed or shortened",
  async (table) => {
    const url = await (await testPostgres()).createDatabase();
    const database = await openDatabase(url);
    const client = new SQL({ url, max: 1 });
    await database.audit.append({ at: 1, actor: "a", action: "b", subject: "c", detail: {} });
    await client`INSERT INTO bridge_events (transfer_id, at, to_state, event, detail)
    VALUES ('t', 1, 'created', 'created', '{}')`;
    for (const change of [
      `UPDATE ${table} SET at = 2`,
      `DELETE FROM ${table}`,
      `TRUNCATE ${table}`,
    ]) {
      await expect(client.unsafe(change)).rejects.toThrow(`${table} is append-only`);
    }
    const [row] = await client.unsafe(`SELECT at FROM ${table}`);
    expect(Number(row.at)).toBe(1);
    await client.close({ timeout: 0 });
    database.close();
  },
);

testWithServers(
  "a lost connection is no error for who asks: reads and charges are tried again",
  async () => {
    const url = await (await testPostgres()).createDatabase();
    const database = await openDatabase(url);
    const client = new SQL({ url, max: 1 });
    const row = { keyId: "k", hour: 1, operation: "rpc", chainId: 1, requests: 1, cu: 1 };
    for (let round = 1; round <= 10; round++) {
      const work = [database.usage.add([row]), database.keys.list(), database.settings.get("none")];
      await client`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`;
      await Promise.all(work);
      expect(await database.usage.totalCu("k", 0, 10)).toBe(round);
    }
    await client.close({ timeout: 0 });
    database.close();
  },
);

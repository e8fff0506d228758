import { Database as SqliteFile } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { ConfigError } from "../../src/config/index.ts";
import { syncInBackground } from "../../src/db/diskSync.ts";
import { openDatabase } from "../../src/db/index.ts";
import { openSqlite } from "../../src/db/sqlite.ts";
import { createUsageFold } from "../../src/db/usageFold.ts";
import { createUsageJournal } from "../../src/db/usageJournal.ts";

function temporaryDirectory() {
  const path = mkdtempSync(join(tmpdir(), "causeway-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** What stands in a schema, read by a connection of its own. */
function schemaOf(file: string) {
  const client = new SqliteFile(file, { readonly: true });
  const objects = client.query("SELECT type, name, sql FROM sqlite_master ORDER BY name").all();
  const applied = client.query<{ n: number }, []>("SELECT count(*) AS n FROM migrations").get()?.n;
  client.close();
  return { objects, applied };
}

/** Descriptors of this process for files whose path begins so. */
function openFiles(path: string): number {
  return readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(path);
    } catch {
      return false;
    }
  }).length;
}

/** A database as the first migrations left it. */
function olderDatabase(file: string, migrations: number): SqliteFile {
  const client = new SqliteFile(file);
  client.run("CREATE TABLE migrations (hash TEXT PRIMARY KEY, created_at INTEGER NOT NULL)");
  const migrationsFolder = join(import.meta.dir, "../../src/db/migrations");
  for (const older of readMigrationFiles({ migrationsFolder }).slice(0, migrations)) {
    for (const statement of older.sql) client.run(statement);
    client.run("INSERT INTO migrations VALUES (?, ?)", [older.hash, older.folderMillis]);
  }
  return client;
}

/** A charge as a line of the older journal had it. */
const charge = (keyId: string, cu: number) => [keyId, 7, "rpc", 1, 1, cu];

describe("opening", () => {
  test("makes the directory and the file, relative or absolute", () => {
    using directory = temporaryDirectory();
    for (const path of [`${directory.path}/a/b/c.db`, `//${directory.path}/d/c.db`]) {
      openDatabase(`file:${path}`).close();
    }
    expect(existsSync(join(directory.path, "a/b/c.db"))).toBe(true);
    expect(existsSync(join(directory.path, "d/c.db"))).toBe(true);
  });

  test("writes ahead, syncs normally, waits for other processes and checks references", () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "c.db");
    const database = openDatabase(`file:${file}`);
    expect(existsSync(`${file}-wal`)).toBe(true);
    expect(database.file).toBe(file);
    database.close();
    expect(openDatabase(":memory:").file).toBeUndefined();
  });

  test.skipIf(process.platform !== "linux")(
    "has the log written to the disk beside the work, and then keeps it open no longer",
    async () => {
      using directory = temporaryDirectory();
      const file = join(directory.path, "c.db");
      const database = openDatabase(`file:${file}`);
      const before = openFiles(`${file}-wal`);
      await database.settings.set("a", "b");
      const isOpened = () => openFiles(`${file}-wal`) === before + 1;
      for (let naps = 0; !isOpened() && naps < 1_000; naps++) await Bun.sleep(5);
      expect(isOpened()).toBe(true);
      database.close();
      for (let naps = 0; isOpened() && naps < 1_000; naps++) await Bun.sleep(5);
      expect(isOpened()).toBe(false);
    },
  );

  test("a file of charges is removed when the disk knows that they are in the ledger", async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "c.db");
    const connection = openSqlite(file);
    const journal = createUsageJournal(connection);
    const stopSync = syncInBackground(connection, journal, file);
    const row = { keyId: "k", hour: 1, operation: "o", chainId: 0, requests: 1, cu: 1 };
    const files = () => readdirSync(directory.path).filter((name) => /charges-\w+-\d+$/.test(name));
    journal.append([row], 0);
    const [written = ""] = files();
    expect(written).not.toBe("");
    createUsageFold(connection, journal).finish();
    expect(files()).toContain(written);
    for (let naps = 0; files().includes(written) && naps < 1_000; naps++) await Bun.sleep(5);
    expect(files()).not.toContain(written);
    stopSync();
    journal.close();
    expect(files()).toEqual([]);
    connection.client.close();
  });

  test("what is no database of this service is refused by name", () => {
    for (const url of ["mysql://x", "file:", ""]) {
      expect(() => openDatabase(url)).toThrow(ConfigError);
      expect(() => openDatabase(url)).toThrow(/DATABASE_URL/);
    }
  });
});

describe("migrations", () => {
  test("opening again changes nothing and keeps what is stored", async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "c.db");
    const first = openDatabase(`file:${file}`);
    await first.settings.set("kept", "yes");
    first.close();
    const before = schemaOf(file);
    const second = openDatabase(`file:${file}`);
    expect(await second.settings.get("kept")).toBe("yes");
    second.close();
    expect(schemaOf(file)).toEqual(before);
    expect(before.applied).toBeGreaterThanOrEqual(2);
  });

  test("keys and charges of an older database are all there", async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "c.db");
    // Before charges had a journal and keys a look-up table.
    const client = olderDatabase(file, 8);
    client.run(`INSERT INTO keys (id, environment, name, scopes, ip_allow_list, created_at)
      VALUES ('k1', 'live', 'Old', '["read"]', '["10.0.0.0/8"]', 5)`);
    client.run("INSERT INTO key_secrets VALUES ('h1', 'k1', 'abcd', 5, NULL)");
    client.run("INSERT INTO usage VALUES ('k1', 7, 'rpc', 1, 2, 3)");
    client.close();
    const database = openDatabase(`file:${file}`);
    expect((await database.keys.findByHash("h1"))?.key).toEqual((await database.keys.find("k1"))!);
    await database.usage.add([
      { keyId: "k1", hour: 7, operation: "rpc", chainId: 1, requests: 1, cu: 1 },
    ]);
    expect(await database.usage.totalCu("k1", 0, 10)).toBe(4);
    database.close();
  });

  test("charges that were on their way to an older ledger count once", async () => {
    using directory = temporaryDirectory();
    // How far the second line is in the ledger, by its note, and what is left of it.
    for (const [through, foldedTo, left] of [
      [0, null, ["a", "b", "c"]],
      [2, "", ["a", "b", "c"]],
      [2, "b", ["c"]],
      [2, null, []],
    ] as const) {
      const file = join(directory.path, `${through}${foldedTo}.db`);
      // While lines of the journal were rows of a table.
      const client = olderDatabase(file, 11);
      client.run("INSERT INTO usage VALUES ('a', 7, 'rpc', 1, 2, 3)");
      client.run("UPDATE usage_fold SET through = ?, folded_to = ?", [through, foldedTo]);
      const addLine = client.query("INSERT INTO usage_journal (at, charges) VALUES (?, ?)");
      addLine.run(50, JSON.stringify([charge("a", 10), charge("b", 20)]));
      addLine.run(60, JSON.stringify([charge("b", 30), charge("c", 40)]));
      addLine.run(0, JSON.stringify([charge("a", 100), charge("d", 200)]));
      client.close();
      const { usage, activity, close } = openDatabase(`file:${file}`);
      const isLeft = (keyId: "a" | "b" | "c") =>
        Number((left as readonly string[]).includes(keyId));
      const total = (keyId: string) => usage.totalCu(keyId, 0, 10);
      expect(await total("a")).toBe(3 + 100 + 10 * isLeft("a"));
      expect(await total("b")).toBe(50 * isLeft("b"));
      expect(await total("c")).toBe(40 * isLeft("c"));
      expect(await total("d")).toBe(200);
      const used = await activity.lastUsed(["a", "b", "c", "d"]);
      expect(used.get("b")).toBe(isLeft("b") ? 60 : undefined);
      expect(used.has("d")).toBe(false);
      close();
    }
  });

  test("processes that start at once on a new file all come up, with one schema", async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "c.db");
    const expected = join(directory.path, "alone.db");
    openDatabase(`file:${expected}`).close();
    const module = join(import.meta.dir, "../../src/db/index.ts");
    const script = `
      const { openDatabase } = await import(${JSON.stringify(module)});
      const database = openDatabase(${JSON.stringify(`file:${file}`)});
      for (let i = 0; i < 200; i++) {
        database.usage.add([{ keyId: "k", hour: 1, operation: "o", chainId: 0, requests: 1, cu: 1 }]);
      }
      database.close();`;
    const children = Array.from({ length: 6 }, () =>
      Bun.spawn([process.execPath, "-e", script], { stdout: "ignore", stderr: "pipe" }),
    );
    const errors = await Promise.all(children.map((child) => new Response(child.stderr).text()));
    expect(errors).toEqual(children.map(() => ""));
    expect(await Promise.all(children.map((child) => child.exited))).toEqual(children.map(() => 0));
    expect(schemaOf(file)).toEqual(schemaOf(expected));
    const database = openDatabase(`file:${file}`);
    expect(await database.usage.totalCu("k", 0, 10)).toBe(6 * 200);
    database.close();
  }, 60_000);

  test("the audit log cannot be changed or shortened", async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "c.db");
    const database = openDatabase(`file:${file}`);
    await database.audit.append({ at: 1, actor: "a", action: "b", subject: "c", detail: {} });
    const client = new SqliteFile(file);
    expect(() => client.run("UPDATE audit SET actor = 'x'")).toThrow(/append-only/);
    expect(() => client.run("DELETE FROM audit")).toThrow(/append-only/);
    expect(() =>
      client.run("INSERT OR REPLACE INTO audit VALUES (1, 2, 'x', 'b', 'c', '{}')"),
    ).toThrow(/append-only/);
    client.close();
    expect(await database.audit.list({ limit: 10 })).toHaveLength(1);
    database.close();
  });
});

test("a change of keys by another connection is seen within a millisecond", async () => {
  using directory = temporaryDirectory();
  const url = `file:${join(directory.path, "c.db")}`;
  const [here, there] = [await openDatabase(url), await openDatabase(url)];
  const before = await here.keys.revision();
  await there.keys.insert(
    {
      id: "k1",
      environment: "live",
      name: "",
      scopes: [],
      windowLimit: null,
      cuAllowance: null,
      expiresAt: null,
      ipAllowList: [],
      bridgePerTransferAtomic: null,
      bridgePerDayAtomic: null,
      createdAt: 1,
      revokedAt: null,
      accountId: null,
    },
    { hash: "h", last4: "hhhh", createdAt: 1, graceUntil: null },
    { at: 1, actor: "a", action: "b", subject: "k1", detail: {} },
  );
  const changedAt = performance.now();
  while (performance.now() - changedAt <= 1);
  expect(await here.keys.revision()).not.toBe(before);
  here.close();
  there.close();
});

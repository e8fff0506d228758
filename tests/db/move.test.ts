import { expect, setDefaultTimeout } from "bun:test";
import { getTableName, is, Table } from "drizzle-orm";
import { join } from "node:path";
import { SQL } from "bun";
import { type Database, openDatabase } from "../../src/db/index.ts";
import { migrateCommand } from "../../src/db/move/command.ts";
import { moveEverything } from "../../src/db/move/move.ts";
import { movedTables } from "../../src/db/move/tables.ts";
import * as sqliteSchema from "../../src/db/schema.ts";
import { openSqlite } from "../../src/db/sqlite.ts";
import { temporaryDirectory } from "../support/processes.ts";
import { testWithServers } from "../support/installed.ts";
import { testPostgres } from "../support/storage.ts";

// Postgres may have to be started first.
setDefaultTimeout(60_000);

const line = (action: string) => ({
  at: 5,
  actor: "test",
  action,
  subject: "k1",
  detail: { text: 'ü "quoted" \u2028', list: [1, null, { deep: true }] },
});

/** A database with a row of every kind that has something to get wrong. */
async function filledSource() {
  const file = join(temporaryDirectory(), "source.db");
  const database = openDatabase(`file:${file}`);
  const account = { id: "a1", address: "0xab", scopes: ["read"], maxKeys: 3, maxWindowLimit: null };
  const times = { createdAt: 1, lastSignInAt: 2, disabledAt: null };
  await database.accounts.insert({ ...account, ...times }, undefined, line("account.create"));
  const key = {
    environment: "live" as const,
    name: "Böse 'Name'; --",
    scopes: ["read", "swaps"],
    windowLimit: 2_147_483_647,
    cuAllowance: null,
    expiresAt: 1_151_111_081_099_710,
    ipAllowList: ["10.0.0.0/8"],
    bridgePerTransferAtomic: 2n ** 80n,
    bridgePerDayAtomic: null,
    createdAt: 1,
    revokedAt: null,
    accountId: "a1",
  };
  for (let i = 0; i < 3; i++) {
    const secret = { hash: `h${i}`, last4: "abcd", createdAt: 1, graceUntil: null };
    await database.keys.insert({ ...key, id: `k${i}` }, secret, line("key.create"));
  }
  await database.keys.rotate(
    "k1",
    { hash: "r", last4: "ffff", createdAt: 1, graceUntil: null },
    9,
    line("key.rotate"),
  );
  const rows = Array.from({ length: 2_500 }, (_, hour) => ({
    keyId: `k${hour % 3}`,
    hour,
    operation: "rpc",
    chainId: 1_151_111_081_099_710,
    requests: 1,
    cu: hour,
  }));
  await database.usage.add(rows);
  await database.settings.set("pepper", "value");
  await database.upstreamChanges.put({
    id: "u",
    chainId: 1,
    kind: "added",
    sealed: "s",
    changedAt: 1,
  });
  database.close();
  return file;
}

const freshTarget = async () => (await testPostgres()).createDatabase();
const run = async (file: string, url: string) => {
  const printed: string[] = [];
  await migrateCommand(["--from", `sqlite:${file}`, "--to", url], (text) => printed.push(text));
  return printed;
};

async function contents(database: Database) {
  return {
    keys: await database.keys.list(),
    secrets: await database.keys.secrets(["k1"]),
    usage: await database.usage.sums("k1", 0, 10_000),
    hourly: await database.usage.hourly(["k0", "k2"], 0, 10_000),
    audit: await database.audit.list({ limit: 100 }),
    accounts: await database.accounts.list(10),
    changes: await database.upstreamChanges.list(),
    pepper: await database.settings.get("pepper"),
  };
}

/** Leases end with their process; the rest is derived, or moved with the ledger. */
const notMoved = new Set(["leases", "key_lookup", "charge_files"]);

testWithServers("every table of the schema is moved, but for those that need not be", () => {
  const tables = Object.values(sqliteSchema).filter((member) => is(member, Table));
  const names = tables.map((table) => getTableName(table as Table));
  expect(movedTables.map(({ name }) => name).toSorted()).toEqual(
    names.filter((name) => !notMoved.has(name)).toSorted(),
  );
});

testWithServers("everything is there afterwards, as it was, and goes on from there", async () => {
  const file = await filledSource();
  const url = await freshTarget();
  const printed = await run(file, url);
  expect(printed).toContain("usage: 2500 rows moved and compared");

  const [before, after] = [await openDatabase(`file:${file}`), await openDatabase(url)];
  expect(await contents(after)).toEqual(await contents(before));
  expect(await after.keys.revision()).toBe(await before.keys.revision());
  await after.audit.append(line("later"));
  const [newest, second] = await after.audit.list({ limit: 2 });
  expect(newest?.action).toBe("later");
  expect(newest?.id).toBe((second?.id ?? 0) + 1);
  await after.usage.add([
    { keyId: "k1", hour: 1, operation: "rpc", chainId: 1, requests: 1, cu: 1 },
  ]);
  expect(await after.usage.totalCu("k1", 1, 2)).toBe(2);
  before.close();
  after.close();
});

testWithServers("a target that is not empty is refused and left as it is", async () => {
  const file = await filledSource();
  const url = await freshTarget();
  const target = await openDatabase(url);
  await target.settings.set("mine", "kept");
  await expect(run(file, url)).rejects.toThrow("The target is not empty: settings has rows");
  expect(await target.settings.get("mine")).toBe("kept");
  expect(await target.keys.list()).toEqual([]);
  target.close();
});

/** Moves until the callback throws, as if the process had been ended there. */
async function moveUntil(file: string, url: string, onTable: (table: string) => void) {
  const target = new SQL({ url, max: 1 });
  const source = openSqlite(file);
  try {
    await moveEverything({ source: source.client, sourceName: file, target, progress: onTable });
  } finally {
    source.client.close();
    await target.close({ timeout: 0 });
  }
}

const interrupt = (table: string) => {
  if (table === "usage") throw new Error("killed");
};

testWithServers(
  "a move that was interrupted goes on where it was; rows that differ are noticed",
  async () => {
    const file = await filledSource();
    const url = await freshTarget();
    const opened = await openDatabase(url);
    await expect(moveUntil(file, url, interrupt)).rejects.toThrow("killed");

    const target = new SQL({ url, max: 1 });
    await target`UPDATE keys SET name = 'other' WHERE id = 'k1'`;
    await expect(run(file, url)).rejects.toThrow(
      "keys differs: 3 rows in the source, 3 in the target",
    );
    await target`UPDATE keys SET name = 'Böse ''Name''; --' WHERE id = 'k1'`;
    const printed = await run(file, url);
    expect(printed).toContain("usage: 2500 rows moved before, compared");
    expect(printed).toContain("audit: 5 rows moved and compared");
    await expect(run(file, url)).rejects.toThrow("not empty");
    await target.close({ timeout: 0 });
    opened.close();
  },
);

testWithServers("a source that changes meanwhile is noticed", async () => {
  const file = await filledSource();
  const url = await freshTarget();
  (await openDatabase(url)).close();
  const writer = openDatabase(`file:${file}`);
  const write = (table: string) => {
    if (table === "usage") void writer.settings.set("late", "value");
  };
  await expect(moveUntil(file, url, write)).rejects.toThrow("The source changed meanwhile");
  writer.close();
});

testWithServers.each([
  [["--from", "sqlite:/nowhere/x.db", "--to", "postgres://h/x"], "There is no database"],
  [["--from", "nothing", "--to", "postgres://h/x"], "--from must be sqlite:<path>"],
  [["--to", "postgres://h/x"], "--from must be sqlite:<path>"],
  [["--what"], "--what"],
])("%p is refused", async (args, message) => {
  await expect(migrateCommand(args, () => {})).rejects.toThrow(message);
});

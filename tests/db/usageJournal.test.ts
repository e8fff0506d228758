import { Database as SqliteFile } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../src/db/index.ts";
import { openSqlite } from "../../src/db/sqlite.ts";
import type { UsageRow } from "../../src/db/types.ts";
import { createUsageFold, settleLedger } from "../../src/db/usageFold.ts";
import { createUsageJournal } from "../../src/db/usageJournal.ts";
import { seededRandom } from "../../src/lib/clock.ts";

function temporaryFile() {
  const directory = mkdtempSync(join(tmpdir(), "causeway-test-"));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  return { file: join(directory, "c.db"), [Symbol.dispose]: remove };
}

const row = (keyId: string, cu = 1, hour = 5): UsageRow => ({
  keyId,
  hour,
  operation: "rpc",
  chainId: 1,
  requests: 1,
  cu,
});
const KEYS = 400;

/** Charges of a commit, each key at most once, and what they add to each key's total. */
function charge(random: () => number, totals: Map<string, number>): UsageRow[] {
  const rows = new Map<string, UsageRow>();
  for (let count = Math.ceil(random() * 60); count > 0; count--) {
    const keyId = `key_${Math.floor(random() * KEYS)}`;
    rows.set(keyId, row(keyId, Math.ceil(random() * 5), Math.floor(random() * 2)));
  }
  for (const { keyId, cu } of rows.values()) totals.set(keyId, (totals.get(keyId) ?? 0) + cu);
  return [...rows.values()];
}

/** What a table or a query says each key was charged. */
function totalsIn(file: string): Map<string, number> {
  const client = new SqliteFile(file, { readonly: true });
  const rows = client
    .query<{ key: string; cu: number }, []>(
      "SELECT key_id AS key, sum(cu) AS cu FROM usage GROUP BY key_id",
    )
    .all();
  client.close();
  return new Map(rows.map(({ key, cu }) => [key, cu]));
}

/** Opens the parts by themselves, so that a step can be taken when a test wants one. */
function open(file: string) {
  const connection = openSqlite(file);
  const journal = createUsageJournal(connection);
  const fold = createUsageFold(connection, journal);
  return { client: connection.client, journal, fold };
}

describe("the ledger's journal", () => {
  test("a charge that could not be entered is refused, and those after it count", () => {
    using directory = temporaryFile();
    const { client, journal, fold } = open(directory.file);
    journal.append([row("a")], 0);
    client.run("CREATE TEMP TABLE kept AS SELECT * FROM usage_fold");
    client.run("DELETE FROM usage_fold");
    expect(() => journal.append([row("b", 2)], 0)).toThrow();
    client.run("INSERT INTO usage_fold SELECT * FROM kept");
    journal.append([row("c", 3)], 0);
    fold.finish();
    expect(Object.fromEntries(totalsIn(directory.file))).toEqual({ a: 1, c: 3 });
    client.close();
  });

  test("charges are read before and after they are in the ledger, and count once", async () => {
    using directory = temporaryFile();
    const database = openDatabase(`file:${directory.file}`);
    await database.usage.add([row("a", 2), row("b", 3)]);
    await database.usage.add([row("a", 4)]);
    expect(totalsIn(directory.file)).toEqual(new Map());
    expect(await database.usage.totalCu("a", 0, 10)).toBe(6);
    const other = openSqlite(directory.file);
    settleLedger(other);
    other.client.close();
    expect(totalsIn(directory.file)).toEqual(new Map([["a", 6], ["b", 3]])); // prettier-ignore
    expect(await database.usage.totalCu("a", 0, 10)).toBe(6);
    await database.usage.add([row("a", 1)]);
    expect(await database.usage.totalCu("a", 0, 10)).toBe(7);
    database.close();
  });

  test("a charge notes when its key was used, before and after it is in the ledger", async () => {
    using directory = temporaryFile();
    const { usage, activity, close } = openDatabase(`file:${directory.file}`);
    await activity.save([["a", 50]], [], 100);
    await usage.add([row("a"), row("b")], 70);
    await usage.add([row("b"), row("c")], 60);
    await usage.add([row("d")]);
    const expected = new Map([["a", 70], ["b", 70], ["c", 60]]); // prettier-ignore
    expect(await activity.lastUsed(["a", "b", "c", "d", "e"])).toEqual(expected);
    const other = openSqlite(directory.file);
    settleLedger(other);
    other.client.close();
    expect(await activity.lastUsed(["a", "b", "c", "d", "e"])).toEqual(expected);
    close();
  });

  test("a process that ends after any step loses and repeats nothing", () => {
    using directory = temporaryFile();
    const random = seededRandom(11);
    const totals = new Map<string, number>();
    for (let process = 0; process < 60; process++) {
      const { client, journal, fold } = open(directory.file);
      for (let action = Math.floor(random() * 12); action > 0; action--) {
        if (random() < 0.5) journal.append(charge(random, totals), 0);
        else fold.takeStep();
      }
      // As when it is killed: nothing is told to the journal.
      client.close();
    }
    const { client, fold } = open(directory.file);
    fold.finish();
    expect(totalsIn(directory.file)).toEqual(totals);
    expect(client.query("SELECT count(*) AS n FROM usage_journal").get()).toEqual({ n: 0 });
    client.close();
  });

  test("processes that charge and fold in turns keep one ledger", async () => {
    using directory = temporaryFile();
    const random = seededRandom(12);
    const totals = new Map<string, number>();
    const processes = Array.from({ length: 3 }, () => open(directory.file));
    const reader = openDatabase(`file:${directory.file}`);
    for (let action = 0; action < 600; action++) {
      const { journal, fold } = processes[Math.floor(random() * processes.length)]!;
      if (random() < 0.5) journal.append(charge(random, totals), 0);
      else fold.takeStep();
      const keyId = `key_${Math.floor(random() * KEYS)}`;
      if (action % 20 === 0) {
        expect(await reader.usage.totalCu(keyId, 0, 10)).toBe(totals.get(keyId) ?? 0);
      }
    }
    processes[0]!.fold.finish();
    expect(totalsIn(directory.file)).toEqual(totals);
    reader.close();
    for (const { client } of processes) client.close();
  });

  test("a step is bounded, however much has gathered", () => {
    using directory = temporaryFile();
    const { client, journal, fold } = open(directory.file);
    const rows = Array.from({ length: 5_000 }, (_, index) => row(`key_${index}`));
    for (let from = 0; from < rows.length; from += 50)
      journal.append(rows.slice(from, from + 50), 0);
    let steps = 0;
    let before = 0;
    do {
      fold.takeStep();
      steps++;
      const { size } = totalsIn(directory.file);
      expect(size - before).toBeLessThanOrEqual(200);
      before = size;
    } while (journal.sealed && steps < 100);
    expect(before).toBe(rows.length);
    expect(steps).toBeLessThan(100);
    client.close();
  });
});

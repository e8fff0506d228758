import { Database as SqliteFile } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ChargeFile, readChargeLines } from "../../src/db/chargeFile.ts";
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

/** What the ledger's own table says each key was charged. */
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

/** Files with charges, and locks, beside a database. */
const chargeFiles = (file: string) =>
  readdirSync(dirname(file)).filter((name) => name.startsWith("c.db-charges-"));

/** Opens the parts by themselves, so that a step can be taken when a test wants one. */
function open(file: string) {
  const connection = openSqlite(file);
  const journal = createUsageJournal(connection);
  journal.takeOver();
  const fold = createUsageFold(connection, journal);
  return {
    client: connection.client,
    journal,
    fold,
    /** As when it is killed: nothing is brought into the ledger. */
    kill() {
      journal.close();
      connection.client.close();
    },
  };
}

const line = (cu: number) => ({ at: 7, charges: [["a", 1, "rpc", 0, 1, cu]] as const });

describe("a file of charges", () => {
  test("gives back the lines that are whole, whatever is between them", () => {
    using directory = temporaryFile();
    const path = `${directory.file}-charges`;
    const file = new ChargeFile(path);
    file.append(line(1));
    file.append(line(2));
    file.close();
    const { length } = readFileSync(path);
    // The process was killed while it wrote, and another went on behind.
    truncateSync(path, length - 3);
    const later = new ChargeFile(path);
    later.append(line(3));
    // Blocks that a power cut left without their contents.
    appendFileSync(path, "\0".repeat(300));
    later.append(line(4));
    appendFileSync(path, '\n123 [7,[["a",1,"rpc",0,1,9]]]');
    later.close();
    expect([...readChargeLines(readFileSync(path, "utf8"))]).toEqual([line(1), line(3), line(4)]);
  });

  test.skipIf(!existsSync("/dev/full"))("a full disk is an error", () => {
    const file = new ChargeFile("/dev/full");
    expect(() => file.append(line(1))).toThrow(/ENOSPC/);
    expect(() => file.append(line(1))).toThrow(/ENOSPC/);
    file.close();
  });

  test("is on the disk after a while, also when it was closed meanwhile", async () => {
    using directory = temporaryFile();
    const file = new ChargeFile(`${directory.file}-charges`);
    file.append(line(1));
    expect(file.isSynced).toBe(false);
    file.sync();
    file.append(line(2));
    for (let naps = 0; !file.isSynced && naps < 1_000; naps++) {
      await Bun.sleep(2);
      file.sync();
    }
    expect(file.isSynced).toBe(true);
    file.append(line(3));
    file.sync();
    file.close();
    for (let naps = 0; !file.isSynced && naps < 1_000; naps++) await Bun.sleep(2);
    expect(file.isSynced).toBe(true);
  });
});

describe("the ledger's journal", () => {
  test("a charge that the ledger could not hold is refused, and those after it count", () => {
    using directory = temporaryFile();
    const { client, journal, fold } = open(directory.file);
    journal.append([row("a")], 0);
    expect(() => journal.append([row("b", 2), row("b", 2 ** 60)], 0)).toThrow(RangeError);
    journal.append([row("c", 3)], 0);
    fold.finish();
    expect(Object.fromEntries(totalsIn(directory.file))).toEqual({ a: 1, c: 3 });
    client.close();
  });

  test("a charge that could not be written is refused, and those after it count", () => {
    using directory = temporaryFile();
    const { client, journal, fold } = open(directory.file);
    client.run("ALTER TABLE charge_files RENAME TO gone");
    expect(() => journal.append([row("b", 2)], 0)).toThrow();
    client.run("ALTER TABLE gone RENAME TO charge_files");
    journal.append([row("c", 3)], 0);
    fold.finish();
    expect(Object.fromEntries(totalsIn(directory.file))).toEqual({ c: 3 });
    client.close();
  });

  test("charges are read before and after they are in the ledger, and count once", async () => {
    using directory = temporaryFile();
    const database = openDatabase(`file:${directory.file}`);
    const reader = openDatabase(`file:${directory.file}`);
    await database.usage.add([row("a", 2), row("b", 3)]);
    await database.usage.add([row("a", 4)]);
    expect(totalsIn(directory.file)).toEqual(new Map());
    for (const { usage } of [database, reader]) expect(await usage.totalCu("a", 0, 10)).toBe(6);
    await database.usage.add([row("a", 1)]);
    for (const { usage } of [database, reader]) expect(await usage.totalCu("a", 0, 10)).toBe(7);
    database.close();
    expect(totalsIn(directory.file)).toEqual(new Map([["a", 7], ["b", 3]])); // prettier-ignore
    expect(await reader.usage.totalCu("a", 0, 10)).toBe(7);
    reader.close();
    expect(chargeFiles(directory.file)).toEqual([]);
  });

  test("what a living process charged stays its own; what a dead one left is taken over", () => {
    using directory = temporaryFile();
    const living = open(directory.file);
    const dying = open(directory.file);
    living.journal.append([row("a", 2)], 0);
    dying.journal.append([row("b", 3)], 0);
    dying.kill();
    const settle = () => {
      const connection = openSqlite(directory.file);
      const isAll = settleLedger(connection);
      connection.client.close();
      return isAll;
    };
    expect(settle()).toBe(false);
    expect(totalsIn(directory.file)).toEqual(new Map([["b", 3]]));
    living.kill();
    expect(settle()).toBe(true);
    expect(totalsIn(directory.file)).toEqual(new Map([["a", 2], ["b", 3]])); // prettier-ignore
  });

  test("a charge notes when its key was used, before and after it is in the ledger", async () => {
    using directory = temporaryFile();
    const { usage, activity, close } = openDatabase(`file:${directory.file}`);
    await activity.save([["a", 50]], [], 100);
    await usage.add([row("a"), row("b")], 70);
    await usage.add([row("b"), row("c")], 60);
    await usage.add([row("d")]);
    const expected = new Map([["a", 70], ["b", 70], ["c", 60]]); // prettier-ignore
    const keyIds = ["a", "b", "c", "d", "e"];
    const other = openDatabase(`file:${directory.file}`);
    expect(await activity.lastUsed(keyIds)).toEqual(expected);
    expect(await other.activity.lastUsed(keyIds)).toEqual(expected);
    close();
    expect(await other.activity.lastUsed(keyIds)).toEqual(expected);
    other.close();
  });

  test("a process that ends after any step loses and repeats nothing", () => {
    using directory = temporaryFile();
    const random = seededRandom(11);
    const totals = new Map<string, number>();
    for (let process = 0; process < 60; process++) {
      const { journal, fold, kill } = open(directory.file);
      for (let action = Math.floor(random() * 12); action > 0; action--) {
        const kind = random();
        if (kind < 0.5) journal.append(charge(random, totals), 0);
        else if (kind < 0.9) fold.takeStep();
        else journal.remove(journal.takeFinished());
      }
      kill();
    }
    const { client, journal, fold } = open(directory.file);
    fold.finish();
    expect(totalsIn(directory.file)).toEqual(totals);
    journal.remove(journal.takeFinished());
    journal.close();
    expect(client.query("SELECT count(*) AS n FROM charge_files").get()).toEqual({ n: 0 });
    expect(chargeFiles(directory.file)).toEqual([]);
    client.close();
  });

  test("charges go on where no other file can be begun, and are brought in later", () => {
    using directory = temporaryFile();
    const { client, journal, fold, kill } = open(directory.file);
    journal.append([row("a", 2)], 0);
    client.run(
      "CREATE TRIGGER no_more BEFORE INSERT ON charge_files BEGIN SELECT RAISE(ABORT, 'full'); END",
    );
    const before = chargeFiles(directory.file);
    expect(() => fold.takeStep()).toThrow(/full/);
    expect(chargeFiles(directory.file)).toEqual(before);
    journal.append([row("a", 3)], 0);
    expect(
      journal.read(() => client.query("SELECT sum(cu) AS cu FROM temp.usage_pending").get()),
    ).toEqual({ cu: 5 });
    client.run("DROP TRIGGER no_more");
    fold.finish();
    expect(totalsIn(directory.file)).toEqual(new Map([["a", 5]]));
    kill();
  });

  test("a step that cannot be taken changes nothing", () => {
    using directory = temporaryFile();
    const { client, journal, fold } = open(directory.file);
    journal.append([row("a", 2)], 0);
    client.run("ALTER TABLE key_last_used RENAME TO gone");
    expect(() => fold.takeStep()).toThrow();
    journal.append([row("a", 3)], 0);
    client.run("ALTER TABLE gone RENAME TO key_last_used");
    expect(totalsIn(directory.file)).toEqual(new Map());
    fold.finish();
    expect(totalsIn(directory.file)).toEqual(new Map([["a", 5]]));
    client.close();
  });

  test("processes that charge and fold side by side, and end, keep one ledger", async () => {
    using directory = temporaryFile();
    const random = seededRandom(12);
    const totals = new Map<string, number>();
    const processes = Array.from({ length: 3 }, () => open(directory.file));
    const reader = openDatabase(`file:${directory.file}`);
    for (let action = 0; action < 600; action++) {
      const at = Math.floor(random() * processes.length);
      const { journal, fold, kill } = processes[at]!;
      const kind = random();
      if (kind < 0.5) journal.append(charge(random, totals), 0);
      else if (kind < 0.9) fold.takeStep();
      else if (kind < 0.95) journal.remove(journal.takeFinished());
      else {
        kill();
        processes[at] = open(directory.file);
      }
      const keyId = `key_${Math.floor(random() * KEYS)}`;
      if (action % 20 === 0) {
        expect(await reader.usage.totalCu(keyId, 0, 10)).toBe(totals.get(keyId) ?? 0);
      }
    }
    for (const { fold } of processes) fold.finish();
    expect(totalsIn(directory.file)).toEqual(totals);
    reader.close();
    for (const { kill } of processes) kill();
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

  test("a start removes the files that none needs, and leaves those of living processes", () => {
    using directory = temporaryFile();
    const living = open(directory.file);
    living.journal.append([row("a")], 0);
    const before = chargeFiles(directory.file);
    expect(before).toHaveLength(2);
    const pathOf = (ending: string) => `${directory.file}-charges-${ending}`;
    const orphan = pathOf(`${"1".repeat(16)}-1`);
    const [fresh, old] = [pathOf(`${"2".repeat(16)}.lock`), pathOf(`${"3".repeat(16)}.lock`)];
    // What somebody else put there, whatever it looks like.
    const strange = [pathOf(`${"1".repeat(16)}-1.bak`), pathOf("copy-2"), pathOf("old.lock")];
    for (const path of [orphan, fresh, old, ...strange]) writeFileSync(path, "");
    const longAgo = new Date(Date.now() - 7_200_000);
    for (const path of [old, ...strange]) utimesSync(path, longAgo, longAgo);
    const starting = open(directory.file);
    expect([orphan, fresh, old].map((path) => existsSync(path))).toEqual([false, true, false]);
    expect(strange.map((path) => existsSync(path))).toEqual([true, true, true]);
    for (const path of [fresh, ...strange]) rmSync(path);
    expect(chargeFiles(directory.file)).toEqual(before);
    living.fold.finish();
    expect(totalsIn(directory.file)).toEqual(new Map([["a", 1]]));
    starting.kill();
    living.kill();
  });
});

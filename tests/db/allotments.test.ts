import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { SQL } from "bun";
import { seededRandom } from "../../src/lib/clock.ts";
import { testWithServers } from "../support/installed.ts";
import { testPostgres } from "../support/storage.ts";
import { type Database, openDatabase } from "../../src/db/index.ts";
import { engines } from "./engines.ts";

setDefaultTimeout(60_000);

const MONTH = { fromHour: 0, toHour: 744 };
const ask = ({ usage }: Database, allowanceCu: number, ownCu: number, wantedCu: number) =>
  usage.allot({ keyId: "k", ...MONTH, allowanceCu, ownCu, wantedCu });
const charge = ({ usage }: Database, cu: number) =>
  usage.add([{ keyId: "k", hour: 5, operation: "rpc", chainId: 0, requests: 1, cu }]);

describe.each(engines)("$name", ({ open }) => {
  test("one process may charge all of an allowance, less what was charged", async () => {
    using opened = await open();
    const { database } = opened;
    await database.peers.join();
    await charge(database, 40);
    const { spentCu } = await ask(database, 100, 0, 1);
    expect(spentCu).toBe(40);
    expect((await ask(database, 100, 40, 60)).ceilingCu).toBe(100);
    expect((await ask(database, 100, 100, 1)).ceilingCu).toBe(100);
    expect((await ask(database, 100, 41, 60)).ceilingCu).toBeLessThan(101);
  });
});

/** Processes on one Postgres database, each with a slot. */
async function replicas(count: number) {
  const url = await (await testPostgres()).createDatabase();
  const all: Database[] = [];
  for (let i = 0; i < count; i++) {
    const database = await openDatabase(url);
    await database.peers.join();
    all.push(database);
  }
  return { url, all, close: () => all.forEach((database) => database.close()) };
}

testWithServers(
  "replicas together never charge more than the allowance, and can charge all of it",
  async () => {
    const allowanceCu = 300;
    const { all, close } = await replicas(3);
    const random = seededRandom(7);
    const parts = all.map((database) => ({ database, own: 0, ceiling: 0 }));
    for (let step = 0; step < 150; step++) {
      const part = parts[Math.floor(random() * parts.length)]!;
      const cu = 1 + Math.floor(random() * 5);
      if (part.own + cu > part.ceiling) {
        part.ceiling = (await ask(part.database, allowanceCu, part.own, cu)).ceilingCu;
      }
      if (part.own + cu > part.ceiling) continue;
      part.own += cu;
      if (random() < 0.8) await charge(part.database, cu);
      expect(parts.reduce((sum, { ceiling }) => sum + ceiling, 0)).toBeLessThanOrEqual(allowanceCu);
    }
    // What is set aside and not needed is given back; then one can have the rest.
    for (const part of parts)
      part.ceiling = (await ask(part.database, allowanceCu, part.own, 0)).ceilingCu;
    const rest = allowanceCu - parts.reduce((sum, { own }) => sum + own, 0);
    const [first] = parts;
    expect((await ask(first!.database, allowanceCu, first!.own, rest)).ceilingCu).toBe(
      first!.own + rest,
    );
    close();
  },
);

testWithServers(
  "what a dead replica had set aside is free again, what it charged is not",
  async () => {
    const { all, close } = await replicas(2);
    const [dead, alive] = all;
    expect((await ask(dead!, 100, 0, 80)).ceilingCu).toBe(80);
    await charge(dead!, 30);
    expect((await ask(alive!, 100, 0, 21)).ceilingCu).toBe(0);
    dead!.close();
    const deadline = performance.now() + 30_000;
    while ((await ask(alive!, 100, 0, 70)).ceilingCu !== 70) {
      expect(performance.now()).toBeLessThan(deadline);
      await Bun.sleep(20);
    }
    expect((await ask(alive!, 100, 70, 1)).ceilingCu).toBe(70);
    close();
  },
);

testWithServers("replicas know how many they are and which of them they are", async () => {
  const { all, url, close } = await replicas(3);
  const tool = await openDatabase(url);
  const refresh = () => Promise.all(all.map((database) => database.peers.refresh()));
  await refresh();
  expect(all.map(({ peers }) => peers.standing())).toEqual(
    [0, 1, 2].map((rank) => ({ rank, count: 3 })),
  );
  all[1]!.close();
  const deadline = performance.now() + 30_000;
  do {
    expect(performance.now()).toBeLessThan(deadline);
    await Promise.all([all[0]!.peers.refresh(), all[2]!.peers.refresh()]);
  } while (all[0]!.peers.standing().count !== 2 || all[2]!.peers.standing().count !== 2);
  expect(all[2]!.peers.standing().rank).toBe(1);
  tool.close();
  close();
});

testWithServers(
  "a group of charges that is sent again after a broken connection counts once",
  async () => {
    const { all, url, close } = await replicas(1);
    const [database] = all;
    const watcher = await openDatabase(url);
    await charge(database!, 1);
    const client = new SQL({ url, max: 1 });
    for (let round = 0; round < 20; round++) {
      const charges = [charge(database!, 1)];
      await client`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`;
      charges.push(charge(database!, 1));
      await Promise.all(charges);
    }
    expect(await watcher.usage.totalCu("k", MONTH.fromHour, MONTH.toHour)).toBe(41);
    await client.close({ timeout: 0 });
    watcher.close();
    close();
  },
);

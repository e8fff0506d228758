import { join } from "node:path";
import { createAccess } from "../../src/access/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { openDatabase } from "../../src/db/index.ts";
import { compareCandidates } from "../compareCandidates.ts";
import type { Candidate, Figures, Scenario } from "../scenario.ts";

/** Keys there are; each is looked up once per measurement of the cold check. */
const KEYS = 20_000;
const WARM_CALLS = 200_000;

/** How long a key check takes, one by one, in this process. */
export const keys: Scenario = {
  name: "keys",
  title: `key check, ${KEYS.toLocaleString("en-US")} keys in SQLite`,
  async run(bench) {
    const settings = loadConfig({}).access;
    const database = await openDatabase(`file:${join(bench.rig.dir, "keys.db")}`);
    const access = await createAccess(database, settings);
    const secrets: string[] = [];
    for (let made = 0; made < KEYS; made++) {
      const input = { environment: "test", scopes: ["read"] } as const;
      secrets.push((await access.keys.create(input, "bench")).secret);
    }
    const warm = secrets.slice(0, 100);
    const candidates: Candidate[] = [
      {
        name: "seen before",
        check: () => checkAll(access.keys.verify, warm),
        measure: () => time(access.keys.verify, warm, WARM_CALLS),
      },
      {
        name: "read from the database",
        check: () => checkAll(access.keys.verify, warm),
        async measure() {
          const fresh = await createAccess(database, settings);
          return time(fresh.keys.verify, secrets, KEYS);
        },
      },
    ];
    try {
      return await compareCandidates(bench, this, candidates, {
        headline: "p99Micros",
        baselines: [],
        notes: ["Each call is timed by itself; reading the clock twice is part of it."],
      });
    } finally {
      await database.close();
    }
  },
};

type Verify = (secret: string) => unknown;

async function checkAll(verify: Verify, secrets: readonly string[]): Promise<void> {
  for (const secret of secrets) {
    if (!(await verify(secret))) throw new Error("a valid key was refused");
  }
}

async function time(verify: Verify, secrets: readonly string[], calls: number): Promise<Figures> {
  const nanos = new Float64Array(calls);
  for (let call = 0; call < calls; call++) {
    const secret = secrets[call % secrets.length] ?? "";
    const startedAt = Bun.nanoseconds();
    await verify(secret);
    nanos[call] = Bun.nanoseconds() - startedAt;
  }
  nanos.sort();
  const quantile = (share: number) => (nanos[Math.floor(calls * share)] ?? Number.NaN) / 1_000;
  return { p50Micros: quantile(0.5), p99Micros: quantile(0.99), p999Micros: quantile(0.999) };
}

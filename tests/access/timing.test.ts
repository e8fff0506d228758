import { expect, test } from "bun:test";
import { createAccess } from "../../src/access/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { openDatabase } from "../../src/db/index.ts";
import { timeGuesses } from "./timingRun.ts";

/** Wide for the noise of small runs; `timingRun.ts` shows ratios within 1 % in a long one. */
const MOST = 1.5;
const ATTEMPTS = 5;

test("how long a wrong key or admin token takes to be refused does not tell how much of it is right", async () => {
  for (let attempt = 1; ; attempt++) {
    const { key, adminToken } = await timeGuesses(3_000);
    const ratios = [...key, ...adminToken].map(({ ratio }) => ratio);
    const isFlat = ratios.every((ratio) => ratio < MOST && ratio > 1 / MOST);
    if (isFlat) return;
    if (attempt === ATTEMPTS) expect(ratios).toEqual(ratios.map(() => 1));
  }
}, 60_000);

test("no secret is ever compared: guesses that differ in one digit are looked up by unlike hashes", async () => {
  const database = openDatabase(":memory:");
  const seen: string[] = [];
  const { findByHash } = database.keys;
  const keys = Object.assign(database.keys, {
    findByHash(hash: string) {
      seen.push(hash);
      return findByHash(hash);
    },
  });
  const access = await createAccess({ ...database, keys }, loadConfig({}).access);
  const { secret } = await access.keys.create({ environment: "test", scopes: ["read"] }, "test");
  const body = secret.slice(0, 47) + (secret[47] === "0" ? "1" : "0");
  const neighbour = body + Bun.hash.crc32(body).toString(16).padStart(8, "0");
  expect(await access.keys.verify(secret)).toBeDefined();
  expect(await access.keys.verify(neighbour)).toBeUndefined();
  const [right = "", wrong = ""] = seen;
  expect(seen.map((hash) => /^[0-9a-f]{64}$/.test(hash))).toEqual([true, true]);
  const equalDigits = [...right].filter((digit, at) => digit === wrong[at]).length;
  expect(equalDigits).toBeLessThan(20);
  database.close();
});

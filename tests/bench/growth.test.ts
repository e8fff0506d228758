import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compareSizes } from "../../bench/growth.ts";
import { KEY_PEPPER, loadKeys } from "../../bench/rig/keys.ts";
import { loadLedger } from "../../bench/rig/ledger.ts";
import { machineState } from "../../bench/rig/machine.ts";
import { createRequestSource } from "../../bench/load/request.ts";
import { saveResult } from "../../bench/report/save.ts";
import { renderTable } from "../../bench/report/table.ts";
import type { Bench } from "../../bench/scenario.ts";
import { createAccess } from "../../src/access/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { openDatabase } from "../../src/db/index.ts";
import { seededRandom } from "../../src/lib/clock.ts";

const dir = mkdtempSync(join(tmpdir(), "causeway-test-"));
afterAll(() => rmSync(dir, { recursive: true }));

/** What a bench needs where nothing is started. */
const bench = { repeats: 3, seconds: 0.01, progress() {} } as unknown as Bench;

describe("growth", () => {
  test("is told relative to the smallest size, in a table and as a course over sizes", async () => {
    const sizes = [0, 10, 100_000].map((count) => ({
      count,
      measured: {
        check: async () => {},
        measure: async () => ({ cpuMicrosPerAnswer: 10 + Math.log10(Math.max(1, count)) }),
      },
    }));
    const scenario = { name: "growing", title: "Answers for growing crowds" };
    const result = await compareSizes(bench, scenario, "callers", sizes);

    expect(result.rows.map(({ name }) => name)).toEqual([
      "0 callers",
      "10 callers",
      "100,000 callers",
    ]);
    expect(result.rows.map(({ ratio }) => ratio?.median)).toEqual([1, 1.1, 1.5]);
    expect(result.series[0]).toMatchObject({
      over: "callers",
      points: [
        [0, 10],
        [10, 11],
        [100_000, 15],
      ],
    });
    expect(renderTable(result)).toContain("0 to 100,000 callers, an answer becomes 1.50 times");

    const files = saveResult(dir, result, machineState());
    const [json, , line] = files.map((file) => readFileSync(file, "utf8"));
    expect(JSON.parse(json!).machine.loadAverage).toBeNumber();
    expect(line).not.toContain("NaN");
    const [first, second, last] = /points="([^"]+)"/
      .exec(line!)![1]!
      .split(" ")
      .map((point) => Number(point.split(",")[0]));
    // Five powers of ten: ten stands at a fifth.
    expect((second! - first!) / (last! - first!)).toBeCloseTo(0.2, 2);
  });

  test("keys and ledger loaded in bulk are those the service reads", async () => {
    const file = join(dir, "loaded.db");
    const keysFile = join(dir, "keys");
    loadKeys(file, keysFile, 4, 3);
    loadLedger(file, 4 * 5 * 6);
    const secrets = readFileSync(keysFile, "utf8").trim().split("\n");
    expect(secrets).toHaveLength(3);

    const database = openDatabase(`file:${file}`);
    const settings = loadConfig({ KEY_PEPPER }).access;
    const access = await createAccess(database, settings);
    const key = await access.keys.verify(secrets[2]!);
    const sums = await access.meter.usage(key!.id, 0, Date.now());
    expect(sums.map(({ requests }) => requests)).toEqual([42, 42, 42, 42, 42]);
    database.close();

    const headers = { "x-api-key": "@KEY@" };
    const requests = [{ method: "GET", path: "/", headers, weight: 1 } as const];
    const target = { hostname: "127.0.0.1", port: 80, requests, expects: "", keysFile };
    const next = createRequestSource(target, seededRandom(1));
    const sent = Array.from({ length: 60 }, () => /x-api-key: (.*)\r\n/.exec(next())?.[1]);
    expect([...new Set(sent)].sort()).toEqual([...secrets].sort());
  });
});

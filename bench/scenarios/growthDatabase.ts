import { join } from "node:path";
import { httpCandidate, targetOf, throughputFigures } from "../candidates.ts";
import { compareSizes, type Size } from "../growth.ts";
import { KEY_PEPPER, loadKeys } from "../rig/keys.ts";
import { loadLedger } from "../rig/ledger.ts";
import { nodesConfig, startService } from "../rig/service.ts";
import type { Bench, Scenario } from "../scenario.ts";

const load = { clients: 64, figures: throughputFigures };
/** A fixed answer behind the gate, for any of the keys in turn. */
const requests = [
  {
    method: "GET",
    path: "/api/public/swap/dexes",
    headers: { "x-api-key": "@KEY@" },
    weight: 1,
  },
] as const;

/** Keys that make requests where the others do not. */
const FEW_KEYS = 1_000;

/** Throughput against the number of keys there are, few of them in use. */
export const growthKeys: Scenario = {
  name: "growth-keys",
  title: `fixed answers for up to ${FEW_KEYS.toLocaleString("en-US")} keys of all there are, 64 clients`,
  run: async (bench) =>
    compareSizes(bench, growthKeys, "API keys", await keySizes(bench, FEW_KEYS), [
      "The more keys call in one turn, the more rows its commit has.",
    ]),
};

/** Throughput against the number of keys in use. */
export const growthCallers: Scenario = {
  name: "growth-callers",
  title: "fixed answers for keys drawn at random from all, 64 clients",
  run: async (bench) =>
    compareSizes(bench, growthCallers, "calling keys", await keySizes(bench, Infinity), [
      "At the two largest sizes nearly every key is read from the database, and nearly every charge is a row of its own in the ledger.",
    ]),
};

async function keySizes(bench: Bench, inUse: number): Promise<Size[]> {
  const sizes: Size[] = [];
  for (const keys of [10, FEW_KEYS, 100_000, ...(bench.isQuick ? [] : [1_000_000])]) {
    sizes.push(await startSize(bench, keys, { keys, inUse, rows: 0 }));
  }
  return sizes;
}

const LEDGER_KEYS = 10_000;

/** Throughput against the length of the ledger. */
export const growthLedger: Scenario = {
  name: "growth-ledger",
  title: `fixed answers for ${LEDGER_KEYS.toLocaleString("en-US")} keys with a past, 64 clients`,
  async run(bench) {
    const counts = [0, 1_000_000, ...(bench.isQuick ? [] : [10_000_000, 100_000_000])];
    const sizes: Size[] = [];
    for (const rows of counts) {
      sizes.push(await startSize(bench, rows, { keys: LEDGER_KEYS, inUse: Infinity, rows }));
    }
    return compareSizes(bench, this, "ledger rows", sizes, [
      "Loaded rows are those of the hours before this one, the same number for each key.",
    ]);
  },
};

/** Starts a service on a database that has this in it already. */
async function startSize(
  bench: Bench,
  count: number,
  { keys, inUse, rows }: Readonly<Record<"keys" | "inUse" | "rows", number>>,
): Promise<Size> {
  const [source] = bench.sources;
  if (!source) throw new Error("a scenario needs a source");
  bench.progress(
    `loading ${keys.toLocaleString("en-US")} keys, ${rows.toLocaleString("en-US")} rows`,
  );
  const keysFile = join(bench.rig.dir, `keys-${count}`);
  const service = await startService(bench.rig, source, nodesConfig([]), {
    env: { KEY_PEPPER },
    prepare(databaseFile) {
      loadKeys(databaseFile, keysFile, keys, inUse);
      loadLedger(databaseFile, rows);
    },
  });
  const target = { ...targetOf(service, requests, '"success":true'), keysFile };
  return { count, measured: httpCandidate(bench, service.label, target, load, service) };
}

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { type Anvil, startAnvil } from "../../src/sandbox/anvil.ts";
import { deployFresh, preparedState } from "../../src/sandbox/deploy/state.ts";
import { testProcesses } from "../support/chain.ts";
import { temporaryDirectory } from "../support/sandbox.ts";

const CHAIN_ID = 84_532;
/** Contracts the protocol itself writes to in every block (EIP-4788, EIP-2935). */
const SYSTEM = new Set([
  "0x000f3df6d732807ef1319fb7b8bb8522d0beac02",
  "0x0000f90827f1c53a10cb7a02335b175320002935",
]);

interface Account {
  readonly nonce: number | string;
  readonly balance: string;
  readonly code: string;
  readonly storage: Readonly<Record<string, string>>;
}

const dir = temporaryDirectory();
let reloaded: Anvil;
let fresh: Awaited<ReturnType<typeof deployFresh>>;

beforeAll(async () => {
  fresh = await deployFresh(testProcesses(), CHAIN_ID);
  const stateFile = join(dir, "fresh.json");
  writeFileSync(stateFile, fresh.state);
  reloaded = await startAnvil(testProcesses(), { chainId: CHAIN_ID, stateFile });
}, 60_000);

afterAll(() => reloaded.stop());

function accountsOf(state: string): Record<string, Account> {
  const { accounts } = JSON.parse(state) as { accounts: Record<string, Account> };
  const entries = Object.entries(accounts).filter(([address]) => !SYSTEM.has(address));
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

test("a reloaded chain holds the accounts, code and storage of the fresh one", async () => {
  const dump = (await reloaded.rpc.call("anvil_dumpState")) as string;
  const state = gunzipSync(Buffer.from(dump.slice(2), "hex")).toString();
  const expected = accountsOf(fresh.state);
  expect(Object.keys(expected).length).toBeGreaterThan(30);
  expect(accountsOf(state)).toEqual(expected);
});

test("a prepared state is read from disk, and is the deployment it was saved from", async () => {
  const first = await preparedState(testProcesses(), CHAIN_ID, dir);
  const written = readFileSync(first.stateFile, "utf8");
  const second = await preparedState(testProcesses(), CHAIN_ID, dir);
  expect(second).toEqual(first);
  expect(readFileSync(second.stateFile, "utf8")).toBe(written);
  expect(second.deployment).toEqual(JSON.parse(JSON.stringify(fresh.deployment)));
}, 60_000);

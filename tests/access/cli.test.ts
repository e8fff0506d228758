import { expect, test } from "bun:test";
import { join } from "node:path";
import { UNLIMITED_WINDOW } from "../../src/access/index.ts";
import { openDatabase } from "../../src/db/index.ts";
import { runCli } from "./runCli.ts";
import { temporaryDirectory } from "./support.ts";

const urlIn = (directory: { path: string }) =>
  `file:${join(directory.path, "causeway.db")}` as const;

test("a key is created, listed, shown, changed, rotated, accounted for and revoked, all in JSON", async () => {
  using directory = temporaryDirectory();
  const url = urlIn(directory);
  const json = async (...args: string[]) => {
    const run = await runCli(url, "keys", ...args, "--json");
    expect([run.exitCode, run.stderr]).toEqual([0, ""]);
    return JSON.parse(run.stdout);
  };
  const granted = "--env live --scopes read,swaps --name Example --limit none";
  const bounds = "--cu-allowance 5000 --expires 2999-01-01T00:00:00Z --ip 10.0.0.0/8,2001:db8::/32";
  const bridge = "--bridge-per-transfer 99.5 --bridge-per-day 1000";
  const created = await json("create", ...`${granted} ${bounds} ${bridge}`.split(" "));
  expect(created.key).toMatch(/^sk_live_[0-9a-f]{48}$/);
  expect(created.id).toMatch(/^key_[0-9a-f]{16}$/);
  const grants = {
    environment: "live",
    name: "Example",
    scopes: ["read", "swaps"],
    windowLimit: UNLIMITED_WINDOW,
    cuAllowance: 5_000,
    expiresAt: "2999-01-01T00:00:00.000Z",
    ipAllowList: ["10.0.0.0/8", "2001:db8::/32"],
    bridgeLimits: { perTransferUsdc: "99.500000", perDayUsdc: "1000.000000" },
  };
  expect(created).toMatchObject(grants);
  const changes = "--limit default --cu-allowance none --ip none --bridge-per-day none";
  const changed = await json("update", created.id, ...changes.split(" "));
  const changedGrants = {
    ...grants,
    windowLimit: null,
    cuAllowance: null,
    ipAllowList: [],
    bridgeLimits: { perTransferUsdc: "99.500000", perDayUsdc: null },
  };
  expect(changed).toMatchObject(changedGrants);
  const rotated = await json("rotate", created.id, "--grace", "1h");
  expect(rotated.id).toBe(created.id);

  const database = openDatabase(url);
  const hour = Math.floor(Date.now() / 3_600_000);
  const row = { keyId: created.id, hour, operation: "rpc", chainId: 5042, requests: 3, cu: 3 };
  await database.usage.add([row]);
  database.close();
  expect(await json("usage", created.id)).toMatchObject({
    requests: 3,
    totalCu: 3,
    operations: [{ operation: "rpc", chainId: 5042, requests: 3, cu: 3 }],
  });
  expect(await json("usage", created.id, "--to", "2020-01-01", "--from", "2019-12-01")).toEqual({
    requests: 0,
    totalCu: 0,
    allowance: null,
    operations: [],
  });

  const shown = await json("show", created.id);
  expect(shown).toMatchObject({ ...changedGrants, lastUsedAt: null });
  expect(shown.secrets.map(({ hint }: { hint: string }) => hint)).toEqual([
    `sk_live_…${rotated.key.slice(-4)}`,
    `sk_live_…${created.key.slice(-4)}`,
  ]);
  await json("revoke", created.id);
  const listed = await json("list");
  expect(listed).toHaveLength(1);
  expect(listed[0]).toMatchObject({ id: created.id, secrets: shown.secrets });
  expect(listed[0].revokedAt).not.toBeNull();
  const log = await json("audit", "--limit", "10");
  expect(log.map(({ action }: { action: string }) => action)).toEqual([
    "key.revoke",
    "key.rotate",
    "key.update",
    "key.create",
  ]);
  expect(await json("audit", "--before", String(log[2].id))).toHaveLength(1);
  expect(JSON.stringify([shown, listed, log])).not.toContain(created.key);
}, 60_000);

test("what is wrong is said, as text or as JSON, with the exit code of its kind", async () => {
  using directory = temporaryDirectory();
  const create = ["create", "--env", "test", "--scopes", "read"];
  const wrong: [string[], number, RegExp][] = [
    [["create", "--scopes", "read"], 2, /--env is missing/],
    [["create", "--env", "test"], 2, /--scopes is missing/],
    [["create", "--env", "prod", "--scopes", "read"], 2, /test or live/],
    [["create", "--env", "test", "--scopes", "all"], 1, /Unknown scope 'all'/],
    [[...create, "--limit", "x"], 2, /--limit/],
    [[...create, "--bridge-per-day", "1e3"], 2, /--bridge-per-day/],
    [[...create, "--expires", "tomorrow"], 2, /--expires/],
    [[...create, "--expires", "2020-01-01"], 1, /future/],
    [[...create, "--ip", "127.1"], 1, /127\.1/],
    [[...create, "--grace", "1h"], 2, /--grace/],
    [["update", "key_1"], 2, /what is to be changed/],
    [["update", "key_1", "--limit", "5"], 1, /key_1/],
    [["rotate", "key_1", "--grace", "8d"], 1, /7 days/],
    [["rotate", "key_1", "--grace", "soon"], 2, /--grace/],
    [["revoke"], 2, /<id> is missing/],
    [["revoke", "key_1"], 1, /key_1/],
    [["revoke", "key_1", "key_2"], 2, /key_2/],
    [["usage", "key_1", "--from", "x"], 1, /key_1/],
    [["audit", "--limit", "0"], 2, /--limit/],
    [["destroy"], 2, /Unknown command/],
    [["list", "--nope"], 2, /--nope/],
  ];
  const runs = await Promise.all(
    wrong.map(([args], index) =>
      runCli(urlIn(directory), "keys", ...args, ...(index % 2 ? ["--json"] : [])),
    ),
  );
  for (const [index, [args, exitCode, message]] of wrong.entries()) {
    const { stdout, stderr, exitCode: code } = runs[index]!;
    expect([args, code, stdout]).toEqual([args, exitCode, ""]);
    expect(index % 2 ? JSON.parse(stderr).error : stderr).toMatch(message);
  }
}, 60_000);

test("help names every command, and each command its own options, without a database", async () => {
  const all = await runCli("nonsense:", "keys", "--help");
  expect([all.exitCode, all.stderr]).toEqual([0, ""]);
  for (const name of ["create", "list", "show", "update", "revoke", "rotate", "usage", "audit"]) {
    expect(all.stdout).toContain(`keys ${name}`);
  }
  const one = await runCli("nonsense:", "keys", "rotate", "--help");
  expect([one.exitCode, one.stdout]).toEqual([0, expect.stringContaining("--grace")]);
});

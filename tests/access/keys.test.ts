import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  createAccess,
  KeyError,
  openKeyService,
  UNLIMITED_WINDOW,
} from "../../src/access/index.ts";
import { ConfigError, loadConfig } from "../../src/config/index.ts";
import { openDatabase } from "../../src/db/index.ts";
import { runCli } from "./runCli.ts";
import { ManualClock, startServer, temporaryDirectory } from "./support.ts";

const settings = loadConfig({}).access;

describe("a stolen database", () => {
  test("holds no usable key, and not the pepper", async () => {
    using directory = temporaryDirectory();
    const database = openDatabase(`file:${join(directory.path, "causeway.db")}`);
    const { keys } = await createAccess(database, settings);
    const secrets: string[] = [];
    for (let made = 0; made < 20; made++) {
      const { key, secret } = await keys.create({ environment: "live", scopes: ["read"] }, "test");
      secrets.push(secret, (await keys.rotate(key.id, 1_000, "test")).secret);
    }
    const pepper = readFileSync(join(directory.path, "causeway.pepper"), "utf8").trim();
    const files = readdirSync(directory.path).filter((name) => name.startsWith("causeway.db"));
    expect(files).toContain("causeway.db-wal");
    for (const name of files) {
      const bytes = readFileSync(join(directory.path, name));
      for (const secret of secrets) {
        const random = secret.slice("sk_live_".length, -8);
        for (const form of [secret, random, random.slice(0, 16)]) {
          expect(bytes.includes(form)).toBe(false);
        }
        expect(bytes.includes(Buffer.from(random, "hex"))).toBe(false);
      }
      expect(bytes.includes(pepper)).toBe(false);
      expect(bytes.includes(Buffer.from(pepper, "hex"))).toBe(false);
    }
    database.close();
  });

  test("database, WAL and pepper are readable by their owner only", async () => {
    using directory = temporaryDirectory();
    const database = openDatabase(`file:${join(directory.path, "nested", "causeway.db")}`);
    await createAccess(database, settings);
    const folder = join(directory.path, "nested");
    expect(readdirSync(folder)).toContain("causeway.pepper");
    for (const name of readdirSync(folder)) {
      expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
    }
    database.close();
  });
});

test("the admin token is stored as a keyed hash, so that not even a weak one can be guessed from it", async () => {
  const database = openDatabase(":memory:");
  const { adminToken } = await createAccess(database, settings);
  const made = await adminToken.settle(undefined);
  expect(made).toMatch(/^admin_[0-9a-f]{64}$/);
  expect(await adminToken.settle(undefined)).toBeUndefined();
  expect(await adminToken.matches(made ?? "")).toBe(true);
  const before = await adminToken.credential();
  await adminToken.settle("weak");
  expect([await adminToken.matches("weak"), await adminToken.matches(made ?? "")]).toEqual([
    true,
    false,
  ]);
  expect(await adminToken.credential()).not.toBe(before);
  const stored = await database.settings.get("admin_token_hmac");
  expect(stored).toMatch(/^[0-9a-f]{64}$/);
  expect(stored).not.toBe(createHash("sha256").update("weak").digest("hex"));
  database.close();
});

describe("pepper", () => {
  test("keys stay valid over a restart", async () => {
    using directory = temporaryDirectory();
    const url = `file:${join(directory.path, "causeway.db")}`;
    const first = await openDatabase(url);
    const { secret } = await (
      await openKeyService(first)
    ).create({ environment: "test", scopes: ["read"] }, "test");
    first.close();
    const second = await openDatabase(url);
    expect(await (await openKeyService(second)).verify(secret)).toBeDefined();
    second.close();
  });

  test("another or a damaged pepper stops the start instead of refusing every key", async () => {
    using directory = temporaryDirectory();
    const database = openDatabase(`file:${join(directory.path, "causeway.db")}`);
    await openKeyService(database);
    const file = join(directory.path, "causeway.pepper");
    writeFileSync(file, "short");
    await expect(openKeyService(database)).rejects.toThrow(ConfigError);
    rmSync(file);
    await expect(openKeyService(database)).rejects.toThrow(/restore the file/);
    database.close();
  });

  test("given as text or as a file, it is made nowhere and needs nothing beside the database", async () => {
    using directory = temporaryDirectory();
    const url = `file:${join(directory.path, "causeway.db")}` as const;
    const file = join(directory.path, "elsewhere");
    const hex = "ab".repeat(32);
    writeFileSync(file, `${hex}\n`);
    const database = openDatabase(url);
    const byText = await openKeyService(database, { hex });
    const { secret } = await byText.create({ environment: "test", scopes: ["read"] }, "test");
    const byFile = await openKeyService(database, { file });
    expect(await byFile.verify(secret)).toBeDefined();
    expect(readdirSync(directory.path)).not.toContain("causeway.pepper");
    await expect(openKeyService(database, { hex: "cd".repeat(32) })).rejects.toThrow(/KEY_PEPPER/);
    database.close();
    expect(loadConfig({ KEY_PEPPER: hex }).access.pepper).toEqual({ hex });
    expect(loadConfig({ KEY_PEPPER_FILE: file }).access.pepper).toEqual({ file });
    expect(() => loadConfig({ KEY_PEPPER: "short" })).toThrow(/64 hex digits/);
    expect(() => loadConfig({ KEY_PEPPER: hex, KEY_PEPPER_FILE: file })).toThrow(/not both/);
  });

  test("several starts at once agree on one pepper", async () => {
    using directory = temporaryDirectory();
    const url = `file:${join(directory.path, "causeway.db")}`;
    const runs = await Promise.all(
      Array.from({ length: 4 }, () =>
        runCli(url, "keys", "create", "--env", "test", "--scopes", "read", "--json"),
      ),
    );
    expect(runs.map(({ exitCode, stderr }) => [exitCode, stderr])).toEqual(runs.map(() => [0, ""]));
    const database = await openDatabase(url);
    const keys = await openKeyService(database);
    for (const { stdout } of runs) {
      expect(await keys.verify(JSON.parse(stdout).key)).toBeDefined();
    }
    expect(await keys.list()).toHaveLength(4);
    database.close();
  }, 60_000);
});

describe("revocation", () => {
  test("ends a key at once in the same process", async () => {
    await using server = await startServer();
    const { key, secret } = await server.newKey();
    expect((await server.request("/api/public/prices", secret)).status).toBe(200);
    await server.access.keys.revoke(key.id, "test");
    expect((await server.request("/api/public/prices", secret)).status).toBe(401);
  });

  test("ends a key at once when another process does it, and leaves other keys alone", async () => {
    using directory = temporaryDirectory();
    const url = `file:${join(directory.path, "causeway.db")}`;
    const database = await openDatabase(url);
    {
      await using server = await startServer({ database });
      const [revoked, other] = [await server.newKey(), await server.newKey()];
      const status = async (secret: string) =>
        (await server.request("/api/public/prices", secret)).status;
      expect(await status(revoked.secret)).toBe(200);
      const run = await runCli(url, "keys", "revoke", revoked.key.id, "--json");
      expect(JSON.parse(run.stdout)).toEqual({ id: revoked.key.id, revoked: true });
      expect(await status(revoked.secret)).toBe(401);
      expect(await status(other.secret)).toBe(200);
    }
    database.close();
  });

  test("a key made by another process works at once", async () => {
    using directory = temporaryDirectory();
    const url = `file:${join(directory.path, "causeway.db")}`;
    const database = await openDatabase(url);
    {
      await using server = await startServer({ database });
      const run = await runCli(
        url,
        "keys",
        "create",
        "--env",
        "live",
        "--scopes",
        "read",
        "--json",
      );
      const { key } = JSON.parse(run.stdout);
      expect((await server.request("/api/public/prices", key)).status).toBe(200);
    }
    database.close();
  });
});

describe("rotation", () => {
  test("the old secret stays valid for the grace, then ends; id and usage stay", async () => {
    const clock = new ManualClock();
    await using server = await startServer({ clock });
    const { key, secret } = await server.newKey();
    const status = async (presented: string) =>
      (await server.request("/api/public/prices", presented)).status;
    await status(secret);
    const rotated = await server.access.keys.rotate(key.id, 60_000, "test");
    expect(rotated.key.id).toBe(key.id);
    expect([await status(secret), await status(rotated.secret)]).toEqual([200, 200]);
    clock.advance(59_999);
    expect([await status(secret), await status(rotated.secret)]).toEqual([200, 200]);
    clock.advance(1);
    expect([await status(secret), await status(rotated.secret)]).toEqual([401, 200]);
    const usage = await (await server.request("/api/public/usage", rotated.secret)).json();
    expect(usage.data.requests).toBe(6);
  });

  test("both secrets share one window", async () => {
    await using server = await startServer();
    const { key, secret } = await server.newKey({ windowLimit: 2 });
    const rotated = await server.access.keys.rotate(key.id, 60_000, "test");
    const statuses = [];
    for (const presented of [secret, rotated.secret, secret, rotated.secret]) {
      statuses.push((await server.request("/api/public/prices", presented)).status);
    }
    expect(statuses).toEqual([200, 200, 429, 429]);
  });

  test("a grace of 0 ends the old secret at once, and a later grace never extends an earlier end", async () => {
    const clock = new ManualClock();
    await using server = await startServer({ clock });
    const { keys } = server.access;
    const { key, secret: first } = await server.newKey();
    const { secret: second } = await keys.rotate(key.id, 0, "test");
    expect(await keys.verify(first)).toBeUndefined();
    const { secret: third } = await keys.rotate(key.id, 1_000, "test");
    const { secret: fourth } = await keys.rotate(key.id, 7 * 86_400_000, "test");
    clock.advance(1_000);
    const valid = await Promise.all([first, second, third, fourth].map((s) => keys.verify(s)));
    expect(valid.map((found) => found !== undefined)).toEqual([false, false, true, true]);
  });

  test("revoking ends every secret", async () => {
    await using server = await startServer();
    const { keys } = server.access;
    const { key, secret } = await server.newKey();
    const { secret: newer } = await keys.rotate(key.id, 60_000, "test");
    await keys.revoke(key.id, "test");
    expect(await keys.verify(secret)).toBeUndefined();
    expect(await keys.verify(newer)).toBeUndefined();
    await expect(keys.rotate(key.id, 0, "test")).rejects.toThrow(KeyError);
  });
});

describe("operators", () => {
  test("every change leaves an audit line, and none holds a secret", async () => {
    await using server = await startServer();
    const { keys } = server.access;
    const { key, secret } = await keys.create({ environment: "live", scopes: ["read"] }, "console");
    const { secret: newer } = await keys.rotate(key.id, 0, "cli");
    await keys.revoke(key.id, "cli");
    const lines = await server.database.audit.list({ limit: 10 });
    expect(lines.map(({ actor, action, subject }) => [actor, action, subject])).toEqual([
      ["cli", "key.revoke", key.id],
      ["cli", "key.rotate", key.id],
      ["console", "key.create", key.id],
    ]);
    const text = JSON.stringify(lines);
    expect(text).not.toContain(secret);
    expect(text).not.toContain(newer);
  });

  test("what cannot be a key is refused with the reason, and nothing is stored", async () => {
    await using server = await startServer();
    const wrong: [object, RegExp][] = [
      [{ scopes: [] }, /at least one scope/],
      [{ scopes: ["read", "admin"] }, /Unknown scope 'admin'/],
      [{ windowLimit: 0 }, /window limit/],
      [{ windowLimit: UNLIMITED_WINDOW + 1 }, /window limit/],
      [{ cuAllowance: -1 }, /CU allowance/],
      [{ cuAllowance: 1.5 }, /CU allowance/],
      [{ expiresAt: 1 }, /future/],
      [{ expiresAt: Number.NaN }, /future/],
      [{ ipAllowList: ["10.0.0.0/33"] }, /10\.0\.0\.0\/33/],
      [{ name: "x".repeat(101) }, /name/],
      ...["127.1", "10", "010.0.0.1", "0x7f000001", "10/8", "1.2.3.4/", "host", ""].map(
        (block): [object, RegExp] => [{ ipAllowList: [block] }, /neither an IP address/],
      ),
      [{ ipAllowList: Array.from({ length: 101 }, (_, at) => `10.0.0.${at}`) }, /at most 100/],
      [{ bridgePerTransferAtomic: 0n }, /bridge limit per transfer/],
      [{ bridgePerDayAtomic: 10n ** 18n + 1n }, /bridge limit per day/],
      [{ expiresAt: 0 }, /future/],
    ];
    for (const [input, reason] of wrong) {
      await expect(server.newKey(input)).rejects.toThrow(reason);
    }
    expect(await server.access.keys.list()).toEqual([]);
    await expect(server.access.keys.revoke("key_unknown", "test")).rejects.toThrow(/key_unknown/);
    await expect(server.access.keys.rotate("key_unknown", 0, "test")).rejects.toThrow(
      /key_unknown/,
    );
  });

  test("a change of a key holds at once, is checked like a new key, and is audited", async () => {
    await using server = await startServer();
    const { keys } = server.access;
    const { key, secret } = await server.newKey({ windowLimit: 5, ipAllowList: ["127.0.0.1"] });
    expect((await keys.verify(secret))?.windowLimit).toBe(5);
    const changes = { windowLimit: 7, scopes: ["swaps"], bridgePerDayAtomic: 1n, name: " b " };
    const changed = await keys.update(key.id, changes, "cli");
    const expected = { ...key, ...changes, name: "b" };
    expect(changed).toEqual(expected as typeof changed);
    expect(await keys.verify(secret)).toEqual(changed);
    const [line] = await server.database.audit.list({ limit: 1 });
    const detail = { ...changes, name: "b", bridgePerDayAtomic: "1" };
    expect(line).toMatchObject({ actor: "cli", action: "key.update", subject: key.id, detail });
    const refused = (input: object) => expect(keys.update(key.id, input, "cli")).rejects;
    await refused({ scopes: [] }).toThrow(/at least one scope/);
    await refused({ windowLimit: 0 }).toThrow(/window limit/);
    await refused({}).toThrow(/Nothing/);
    await keys.revoke(key.id, "cli");
    await refused({ name: "c" }).toThrow(/revoked/);
    await expect(keys.update("key_unknown", { name: "c" }, "cli")).rejects.toThrow(/key_unknown/);
  });

  test("scopes keep the order they were granted in, once each", async () => {
    await using server = await startServer();
    const { key } = await server.newKey({ scopes: ["read", "quotes", "read", "swaps"] });
    expect(key.scopes).toEqual(["read", "quotes", "swaps"]);
  });
});

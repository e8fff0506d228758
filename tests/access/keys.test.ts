import { describe, expect, test } from "bun:test";
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
import { ManualClock, startServer, temporaryDirectory } from "./support.ts";

const settings = loadConfig({}).access;
const cli = join(import.meta.dir, "../../src/cli.ts");

async function runCli(databaseUrl: string, ...args: string[]) {
  const child = Bun.spawn([process.execPath, cli, ...args], {
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { exitCode: await child.exited, stdout, stderr };
}

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

describe("pepper", () => {
  test("keys stay valid over a restart", async () => {
    using directory = temporaryDirectory();
    const url = `file:${join(directory.path, "causeway.db")}`;
    const first = openDatabase(url);
    const { secret } = await (
      await openKeyService(first)
    ).create({ environment: "test", scopes: ["read"] }, "test");
    first.close();
    const second = openDatabase(url);
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

  test("several starts at once agree on one pepper", async () => {
    using directory = temporaryDirectory();
    const url = `file:${join(directory.path, "causeway.db")}`;
    const runs = await Promise.all(
      Array.from({ length: 4 }, () =>
        runCli(url, "keys", "create", "--env", "test", "--scopes", "read", "--json"),
      ),
    );
    expect(runs.map(({ exitCode, stderr }) => [exitCode, stderr])).toEqual(runs.map(() => [0, ""]));
    const database = openDatabase(url);
    const keys = await openKeyService(database);
    for (const { stdout } of runs) {
      expect(await keys.verify(JSON.parse(stdout).key)).toBeDefined();
    }
    expect(await keys.list()).toHaveLength(4);
    database.close();
  }, 20_000);
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
    const database = openDatabase(url);
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
    const database = openDatabase(url);
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

  test("scopes keep the order they were granted in, once each", async () => {
    await using server = await startServer();
    const { key } = await server.newKey({ scopes: ["read", "quotes", "read", "swaps"] });
    expect(key.scopes).toEqual(["read", "quotes", "swaps"]);
  });

  test("the command line creates, lists, shows, rotates and revokes", async () => {
    using directory = temporaryDirectory();
    const url = `file:${join(directory.path, "causeway.db")}`;
    const json = async (...args: string[]) => {
      const run = await runCli(url, "keys", ...args, "--json");
      expect([run.exitCode, run.stderr]).toEqual([0, ""]);
      return JSON.parse(run.stdout);
    };
    const granted = "--env live --scopes read,swaps --name Example --limit none";
    const bounds =
      "--cu-allowance 5000 --expires 2999-01-01T00:00:00Z --ip 10.0.0.0/8,2001:db8::/32";
    const created = await json("create", ...`${granted} ${bounds}`.split(" "));
    expect(created.key).toMatch(/^sk_live_[0-9a-f]{48}$/);
    expect(created.id).toMatch(/^key_[0-9a-f]{16}$/);
    expect(created).toMatchObject({
      environment: "live",
      name: "Example",
      scopes: ["read", "swaps"],
      windowLimit: UNLIMITED_WINDOW,
      cuAllowance: 5_000,
      expiresAt: "2999-01-01T00:00:00.000Z",
      ipAllowList: ["10.0.0.0/8", "2001:db8::/32"],
    });
    const rotated = await json("rotate", created.id, "--grace", "1h");
    expect(rotated.id).toBe(created.id);
    const shown = await json("show", created.id);
    expect(shown.secrets.map(({ hint }: { hint: string }) => hint)).toEqual([
      `sk_live_…${rotated.key.slice(-4)}`,
      `sk_live_…${created.key.slice(-4)}`,
    ]);
    await json("revoke", created.id);
    const listed = await json("list");
    expect(listed).toHaveLength(1);
    expect(listed[0].revokedAt).not.toBeNull();
    expect(JSON.stringify([shown, listed])).not.toContain(created.key);
  }, 20_000);

  test("the command line says what is wrong and exits with an error", async () => {
    using directory = temporaryDirectory();
    const url = `file:${join(directory.path, "causeway.db")}`;
    const wrong: [string[], number, RegExp][] = [
      [["keys", "create", "--scopes", "read"], 2, /--env is missing/],
      [["keys", "create", "--env", "prod", "--scopes", "read"], 2, /test or live/],
      [["keys", "create", "--env", "test", "--scopes", "all"], 1, /Unknown scope 'all'/],
      [["keys", "create", "--env", "test", "--scopes", "read", "--limit", "x"], 2, /--limit/],
      [["keys", "rotate", "key_1", "--grace", "8d"], 1, /7 days/],
      [["keys", "revoke", "key_1"], 1, /key_1/],
      [["keys", "destroy"], 2, /Unknown command/],
      [["keys", "list", "--nope"], 2, /--nope/],
    ];
    const runs = await Promise.all(wrong.map(([args]) => runCli(url, ...args)));
    for (const [index, [, exitCode, message]] of wrong.entries()) {
      expect(runs[index]?.exitCode).toBe(exitCode);
      expect(runs[index]?.stderr).toMatch(message);
      expect(runs[index]?.stdout).toBe("");
    }
    const help = await runCli(url, "keys", "--help");
    expect([help.exitCode, help.stdout]).toEqual([0, expect.stringContaining("keys rotate")]);
  }, 20_000);
});

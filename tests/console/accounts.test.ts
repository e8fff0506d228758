import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { KeyView, ManagedAccountView, NewKeyView } from "../../src/console/views.ts";
import { startConsoleService } from "./service.ts";
import type { Visitor } from "./session.ts";

let service: Awaited<ReturnType<typeof startConsoleService>>;
beforeAll(async () => {
  service = await startConsoleService({
    signUp: "open",
    account: { scopes: ["read", "swaps"], maxKeys: 3, maxWindowLimit: 100 },
  });
});
afterAll(() => service[Symbol.asyncDispose]());

async function developer() {
  const visitor = service.visitor();
  const { data } = await visitor.signIn(privateKeyToAccount(generatePrivateKey()));
  return { visitor, id: (data as { account: { id: string } }).account.id };
}

async function operator() {
  const visitor = service.visitor();
  await visitor.signInAsOperator();
  return visitor;
}

const newKey = (visitor: Visitor, body: object = {}) =>
  visitor.ask<NewKeyView>("POST", "/keys", { environment: "test", scopes: ["read"], ...body });

const usageWith = (secret: string) =>
  fetch(`${service.origin}/api/public/usage`, { headers: { "x-api-key": secret } });

describe("a developer", () => {
  test("sees and touches nothing of another account", async () => {
    const [ada, eve] = [await developer(), await developer()];
    const { key, secret } = (await newKey(ada.visitor, { name: "Ada's" })).data;
    await usageWith(secret);
    await fetch(`${service.origin}/api/public/prices`, {
      method: "PUT",
      headers: { "x-api-key": secret },
    });
    await service.access.activity.flush();

    const attempts: [string, string, object?][] = [
      ["PATCH", `/keys/${key.id}`, { name: "mine" }],
      ["POST", `/keys/${key.id}/rotate`, { graceMs: 0 }],
      ["POST", `/keys/${key.id}/revoke`],
      ["GET", `/usage?key=${key.id}`],
      ["GET", `/errors?key=${key.id}`],
    ];
    for (const [method, path, body] of attempts) {
      const answer = await eve.visitor.ask(method, path, body);
      expect([path, answer.status, answer.code]).toEqual([path, 404, "UNKNOWN_KEY"]);
      const nobody = await eve.visitor.ask(method, path.replace(key.id, "key_0000"), body);
      expect(nobody.error).toBe(answer.error!);
    }
    for (const path of ["/keys", "/errors", "/overview", "/usage?range=30d"]) {
      const text = JSON.stringify((await eve.visitor.ask("GET", path)).data);
      expect(text).not.toContain(key.id);
      expect(text).not.toContain("Ada's");
    }
    expect((await usageWith(secret)).status).toBe(200);
    const own = await ada.visitor.ask<KeyView[]>("GET", "/keys");
    expect(own.data).toMatchObject([{ id: key.id, name: "Ada's", state: "active" }]);
    const errors = await ada.visitor.ask("GET", `/errors?key=${key.id}`);
    expect(errors.data).toMatchObject([{ code: "METHOD_NOT_ALLOWED", status: 405, keyId: key.id }]);
  });

  test("reaches no route of the operator", async () => {
    const { visitor, id } = await developer();
    const attempts: [string, string, object?][] = [
      ["GET", "/upstreams"],
      ["POST", "/upstreams", { chainId: 1, url: "http://127.0.0.1:1" }],
      ["DELETE", "/upstreams/abc"],
      ["GET", "/prices"],
      ["GET", "/transfers"],
      ["GET", "/transfers/abc"],
      ["POST", "/transfers/abc/resume"],
      ["GET", "/accounts"],
      ["PATCH", `/accounts/${id}`, { maxKeys: 999 }],
      ["GET", "/invitations"],
      ["POST", "/invitations", {}],
      ["GET", "/audit"],
    ];
    for (const [method, path, body] of attempts) {
      const { status, code } = await visitor.ask(method, path, body);
      expect([path, status, code]).toEqual([path, 403, "OPERATOR_ONLY"]);
      const stranger = await service.visitor().ask(method, path, body);
      expect([path, stranger.status, stranger.code]).toEqual([path, 401, "SIGNED_OUT"]);
    }
  });

  test("stays within the account's bounds: scopes, window, number of keys, limits", async () => {
    const { visitor } = await developer();
    const refused = async (body: object) => (await newKey(visitor, body)).code;
    expect(await refused({ scopes: ["bridges"] })).toBe("KEY_REFUSED");
    expect(await refused({ scopes: ["nonsense"] })).toBe("KEY_REFUSED");
    expect(await refused({ scopes: [] })).toBe("KEY_REFUSED");
    expect(await refused({ windowLimit: 101 })).toBe("KEY_REFUSED");
    expect(await refused({ expiresAt: 1 })).toBe("KEY_REFUSED");
    expect(await refused({ ipAllowList: ["nowhere"] })).toBe("KEY_REFUSED");
    const { key } = (await newKey(visitor)).data;
    expect(key.window.limit).toBe(100);
    const lifted = await visitor.ask("PATCH", `/keys/${key.id}`, { windowLimit: 1_000_000 });
    expect(lifted).toMatchObject({ status: 403, code: "OPERATOR_ONLY" });

    const made = await Promise.all(Array.from({ length: 6 }, () => newKey(visitor)));
    expect(made.filter(({ status }) => status === 200)).toHaveLength(2);
    expect((await visitor.ask<KeyView[]>("GET", "/keys")).data).toHaveLength(3);
    await visitor.ask("POST", `/keys/${key.id}/revoke`);
    expect((await newKey(visitor)).status).toBe(200);
  });

  test("rotates with grace, and sees which secret still opens the key, and when it was used", async () => {
    const { visitor } = await developer();
    const first = (await newKey(visitor)).data;
    expect(first.key.lastUsedAt).toBeNull();
    const path = `/keys/${first.key.id}/rotate`;
    const second = (await visitor.ask<NewKeyView>("POST", path, { graceMs: 3_600_000 })).data;
    expect((await usageWith(first.secret)).status).toBe(200);
    expect((await usageWith(second.secret)).status).toBe(200);
    await service.access.activity.flush();
    const [key] = (await visitor.ask<KeyView[]>("GET", "/keys")).data;
    expect(key).toMatchObject({
      hint: `sk_test_…${second.secret.slice(-4)}`,
      graces: [{ hint: `sk_test_…${first.secret.slice(-4)}` }],
      window: { limit: 100, remaining: 98 },
    });
    expect(Date.now() - (key?.lastUsedAt ?? 0)).toBeLessThan(60_000);
    const third = (await visitor.ask<NewKeyView>("POST", path, { graceMs: 0 })).data;
    for (const { secret } of [first, second]) expect((await usageWith(secret)).status).toBe(401);
    expect((await usageWith(third.secret)).status).toBe(200);
    const text = JSON.stringify(await visitor.ask("GET", "/keys"));
    for (const { secret } of [first, second, third]) expect(text).not.toContain(secret);
  });
});

describe("the operator", () => {
  test("changes an account's bounds and a key's limits", async () => {
    const [{ visitor, id }, master] = [await developer(), await operator()];
    const changed = await master.ask<ManagedAccountView>("PATCH", `/accounts/${id}`, {
      scopes: ["read", "bridges"],
      maxWindowLimit: 5_000,
    });
    expect(changed.data.bounds).toMatchObject({ maxKeys: 3, maxWindowLimit: 5_000 });
    const body = { scopes: ["bridges"], windowLimit: 5_000 };
    const { key } = (await newKey(visitor, body)).data;
    expect(key).toMatchObject({ scopes: ["bridges"], windowLimit: 5_000 });
    const limited = await master.ask("PATCH", `/keys/${key.id}`, { windowLimit: 7 });
    expect(limited.data).toMatchObject({ windowLimit: 7, window: { limit: 7 } });
    expect((await master.ask("PATCH", "/accounts/acct_0", { maxKeys: 1 })).code).toBe(
      "UNKNOWN_ACCOUNT",
    );
    const log = await master.ask<{ action: string; actor: string }[]>("GET", "/audit");
    expect(log.data[0]).toMatchObject({ action: "key.update", actor: "operator" });
  });

  test("disables an account: its keys and its sessions end at once, and come back with it", async () => {
    const [{ visitor, id }, master] = [await developer(), await operator()];
    const { secret } = (await newKey(visitor)).data;
    expect((await usageWith(secret)).status).toBe(200);
    await master.ask("PATCH", `/accounts/${id}`, { isDisabled: true });
    expect((await usageWith(secret)).status).toBe(401);
    expect((await visitor.ask("GET", "/keys")).code).toBe("SIGNED_OUT");
    await master.ask("PATCH", `/accounts/${id}`, { isDisabled: false });
    expect((await usageWith(secret)).status).toBe(200);
  });

  test("a disabled wallet cannot sign in", async () => {
    const [account, visitor, master] = [
      privateKeyToAccount(generatePrivateKey()),
      service.visitor(),
      await operator(),
    ];
    const { data } = await visitor.signIn(account);
    const { id } = (data as { account: { id: string } }).account;
    await master.ask("PATCH", `/accounts/${id}`, { isDisabled: true });
    expect((await service.visitor().signIn(account)).code).toBe("ACCOUNT_DISABLED");
  });

  test("makes keys that belong to no account, with any scope", async () => {
    const master = await operator();
    const { key } = (await newKey(master, { scopes: ["bridges"], windowLimit: 9_999 })).data;
    expect(key).toMatchObject({ accountId: null, windowLimit: 9_999 });
    const { visitor } = await developer();
    expect(JSON.stringify((await visitor.ask("GET", "/keys")).data)).not.toContain(key.id);
  });
});

import { describe, expect, test } from "bun:test";
import type { Database, KeyErrorEntry, StoredAccount } from "../../src/db/index.ts";
import { engines, type OpenedDatabase } from "./engines.ts";

const audit = { at: 1, actor: "test", action: "a", subject: "s", detail: {} };

const account = (id: string, changes: Partial<StoredAccount> = {}): StoredAccount => ({
  id,
  address: `0x${id}`,
  scopes: null,
  maxKeys: null,
  maxWindowLimit: null,
  createdAt: 5,
  lastSignInAt: 5,
  disabledAt: null,
  ...changes,
});

const invitation = (id: string, expiresAt = 1_000) => ({
  id,
  codeHash: `hash-${id}`,
  note: "",
  createdAt: 1,
  expiresAt,
  accountId: null,
  usedAt: null,
  revokedAt: null,
});

const key = (id: string, accountId: string | null, createdAt = 1) => ({
  id,
  environment: "test" as const,
  name: "",
  scopes: [],
  windowLimit: null,
  cuAllowance: null,
  expiresAt: null,
  ipAllowList: [],
  bridgePerTransferAtomic: null,
  bridgePerDayAtomic: null,
  createdAt,
  revokedAt: null,
  accountId,
});
const secret = (hash: string) => ({ hash, last4: "0000", createdAt: 1, graceUntil: null });

const failure = (keyId: string, at: number): KeyErrorEntry => ({
  keyId,
  at,
  requestId: `request-${at}`,
  operation: null,
  method: "GET",
  path: "/",
  status: 404,
  code: "ROUTE_NOT_FOUND",
  message: "Not found",
});

const session = (id: string, accountId: string | null) => ({
  id,
  accountId,
  credential: accountId === null ? "c" : null,
  createdAt: 1,
  expiresAt: 10,
});

const row = (keyId: string, hour: number, operation: string, chainId: number) => ({
  keyId,
  hour,
  operation,
  chainId,
  requests: 1,
  cu: 2,
});

async function runOn(
  open: () => Promise<OpenedDatabase>,
  run: (database: Database) => Promise<void>,
) {
  using opened = await open();
  await run(opened.database);
}

for (const { name, open } of engines) {
  describe(name, () => {
    test("an account is found by id and wallet, and its changes are one line of the audit log each", () =>
      runOn(open, async ({ accounts, audit: log }) => {
        expect(await accounts.insert(account("a"), undefined, audit)).toBe(true);
        await accounts.touch("a", 9);
        expect(await accounts.update("a", { scopes: ["read"], maxKeys: 2 }, audit)).toBe(true);
        expect(await accounts.update("b", { maxKeys: 2 }, audit)).toBe(false);
        const expected = account("a", { scopes: ["read"], maxKeys: 2, lastSignInAt: 9 });
        expect(await accounts.find("a")).toEqual(expected);
        expect(await accounts.findByAddress("0xa")).toEqual(expected);
        expect(await accounts.findByAddress("0xb")).toBeUndefined();
        expect(await accounts.list(10)).toEqual([expected]);
        expect(await log.list({ limit: 10 })).toHaveLength(2);
      }));

    test("an invitation makes one account, and only while it is open", () =>
      runOn(open, async ({ accounts, invitations, audit: log }) => {
        await invitations.insert(invitation("i"), audit);
        await invitations.insert(invitation("late", 5), audit);
        await invitations.insert(invitation("gone"), audit);
        expect(await invitations.revoke("gone", 3, audit)).toBe(true);
        expect(await invitations.revoke("gone", 4, audit)).toBe(false);
        for (const code of ["unknown", "hash-late", "hash-gone"]) {
          expect(await accounts.insert(account("x"), code, audit)).toBe(false);
        }
        expect(await accounts.find("x")).toBeUndefined();
        expect(await accounts.insert(account("a"), "hash-i", audit)).toBe(true);
        expect(await accounts.insert(account("b"), "hash-i", audit)).toBe(false);
        expect(await invitations.revoke("i", 9, audit)).toBe(false);
        const used = (await invitations.list(10)).find(({ id }) => id === "i");
        expect(used).toMatchObject({ accountId: "a", usedAt: 5 });
        expect(await log.list({ limit: 10 })).toHaveLength(5);
      }));

    test("disabling an account shows in its keys, and counts as a change of keys", () =>
      runOn(open, async ({ accounts, keys }) => {
        await accounts.insert(account("a"), undefined, audit);
        await keys.insert(key("k", "a"), secret("h"), audit);
        const before = await keys.revision();
        expect((await keys.findByHash("h"))?.isAccountDisabled).toBe(false);
        await accounts.update("a", { disabledAt: 3 }, audit);
        expect((await keys.findByHash("h"))?.isAccountDisabled).toBe(true);
        expect(await keys.revision()).not.toBe(before);
      }));

    test("an account gets no more keys than it may have, revoked and expired ones not counted", () =>
      runOn(open, async ({ accounts, keys }) => {
        await accounts.insert(account("a"), undefined, audit);
        await accounts.insert(account("b"), undefined, audit);
        const add = (id: string, changes = {}) =>
          keys.insert({ ...key(id, "a", 10), ...changes }, secret(id), audit, 2);
        expect(await add("k1", { expiresAt: 9, createdAt: 1 })).toBe(true);
        expect(await add("k2")).toBe(true);
        expect(await add("k3")).toBe(true);
        expect(await add("k4")).toBe(false);
        await keys.revoke("k2", 11, audit);
        expect(await add("k5")).toBe(true);
        expect(await keys.insert(key("k6", "b"), secret("k6"), audit, 2)).toBe(true);
        expect((await keys.list("a")).map(({ id }) => id).sort()).toEqual(["k1", "k2", "k3", "k5"]);
        expect((await keys.list("b")).map(({ id }) => id)).toEqual(["k6"]);
        expect(await keys.list()).toHaveLength(5);
      }));

    test("a challenge is taken once, and not after its end", () =>
      runOn(open, async ({ signIn }) => {
        await signIn.addChallenge({ nonce: "n", message: "m", expiresAt: 10 }, 1);
        await signIn.addChallenge({ nonce: "late", message: "m", expiresAt: 10 }, 1);
        const taken = await Promise.all([1, 2, 3].map(async () => signIn.takeChallenge("n", 5)));
        expect(taken.filter((one) => one !== undefined)).toEqual([
          { nonce: "n", message: "m", expiresAt: 10 },
        ]);
        expect(await signIn.takeChallenge("late", 10)).toBeUndefined();
      }));

    test("attempts are counted per subject in a window that begins with the first", () =>
      runOn(open, async ({ signIn }) => {
        const add = (subject: string, by: number, now: number) =>
          signIn.countAttempts(subject, by, now, 100);
        const counted = await Promise.all([1, 2, 3, 4].map(async () => add("a", 1, 1_000)));
        expect(counted.toSorted()).toEqual([1, 2, 3, 4]);
        expect(await add("b", 1, 1_000)).toBe(1);
        expect(await add("a", -1, 1_050)).toBe(3);
        expect(await add("a", 1, 1_099)).toBe(4);
        expect(await add("a", 1, 1_100)).toBe(1);
        expect(await add("c", -1, 1_100)).toBe(0);
      }));

    test("a session is found until it ends or expires", () =>
      runOn(open, async ({ accounts, signIn }) => {
        await accounts.insert(account("a"), undefined, audit);
        for (const id of ["s1", "s2"]) await signIn.addSession(session(id, "a"));
        await signIn.addSession(session("s3", null));
        expect(await signIn.findSession("s1", 9)).toEqual(session("s1", "a"));
        expect(await signIn.findSession("s1", 10)).toBeUndefined();
        await signIn.endSession("s1");
        expect(await signIn.findSession("s1", 2)).toBeUndefined();
        await signIn.endSessionsOf("a");
        expect(await signIn.findSession("s2", 2)).toBeUndefined();
        expect(await signIn.findSession("s3", 2)).toEqual(session("s3", null));
      }));

    test("last use never goes back, and of a key's errors the newest are kept", () =>
      runOn(open, async ({ activity }) => {
        await activity.save([["k1", 10]], [], 3);
        await activity.save(
          [["k1", 7]],
          [1, 2].map((at) => failure("k1", at)),
          3,
        );
        const later = [3, 4].map((at) => failure("k1", at));
        await activity.save([["k2", 8]], [...later, failure("k2", 5)], 3);
        expect(Object.fromEntries(await activity.lastUsed(["k1", "k2", "k3"]))).toEqual({
          k1: 10,
          k2: 8,
        });
        const times = async (...ids: string[]) =>
          (await activity.errors(ids, 10)).map(({ at }) => at);
        expect(await times("k1")).toEqual([4, 3, 2]);
        expect(await times("k1", "k2")).toEqual([5, 4, 3, 2]);
        expect((await activity.errors(["k2"], 10))[0]).toMatchObject(failure("k2", 5));
        expect(await activity.errors([], 10)).toEqual([]);
      }));

    test("usage by hour adds up the keys asked for, and only those", () =>
      runOn(open, async ({ usage }) => {
        await usage.add([
          row("k1", 5, "rpc", 1),
          row("k1", 5, "rpc", 2),
          row("k2", 5, "rpc", 1),
          row("k1", 6, "quote", 1),
          row("k3", 5, "rpc", 1),
          row("k1", 9, "rpc", 1),
        ]);
        expect(await usage.hourly(["k1", "k2"], 5, 9)).toEqual([
          { hour: 5, operation: "rpc", requests: 3, cu: 6 },
          { hour: 6, operation: "quote", requests: 1, cu: 2 },
        ]);
        expect(await usage.hourly([], 0, 100)).toEqual([]);
      }));
  });
}

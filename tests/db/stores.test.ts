import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { AuditEntry, Database, StoredKey, StoredSecret } from "../../src/db/index.ts";
import { engines, type OpenedDatabase } from "./engines.ts";

// Postgres may have to be started first.
setDefaultTimeout(60_000);

const key = (id: string, changes: Partial<StoredKey> = {}): StoredKey => ({
  id,
  environment: "live",
  name: "Example",
  scopes: ["read", "swaps"],
  windowLimit: 100,
  cuAllowance: null,
  expiresAt: 1_151_111_081_099_710,
  ipAllowList: ["10.0.0.0/8"],
  bridgePerTransferAtomic: 5_000_000n,
  bridgePerDayAtomic: 10n ** 18n,
  createdAt: 1,
  revokedAt: null,
  accountId: null,
  ...changes,
});
const secret = (hash: string, changes: Partial<StoredSecret> = {}): StoredSecret => ({
  hash,
  last4: hash.slice(-4),
  createdAt: 1,
  graceUntil: null,
  ...changes,
});
const entry = (action: string, subject = "k1"): AuditEntry => ({
  at: 5,
  actor: "test",
  action,
  subject,
  detail: { nested: [1, "two"] },
});

async function runOn(
  open: () => Promise<OpenedDatabase>,
  run: (database: Database) => Promise<void>,
) {
  using opened = await open();
  await run(opened.database);
}

const usageRow = (hour: number, operation: string, chainId: number, cu: number, keyId = "k1") => ({
  keyId,
  hour,
  operation,
  chainId,
  requests: 1,
  cu,
});

const upstreamChange = (id: string, changedAt: number, sealed: string | null = null) => ({
  id,
  chainId: 1_151_111_081_099_710,
  kind: sealed === null ? ("removed" as const) : ("added" as const),
  sealed,
  changedAt,
});

for (const { name, open } of engines) {
  describe(name, () => {
    test("a key is found by the hash of its secret and by its id, as it was stored", () =>
      runOn(open, async ({ keys }) => {
        await keys.insert(key("k1"), secret("hash-1"), entry("key.create"));
        expect(await keys.findByHash("hash-1")).toMatchObject({
          key: key("k1"),
          secret: secret("hash-1"),
        });
        expect(await keys.find("k1")).toEqual(key("k1"));
        expect(await keys.findByHash("hash-2")).toBeUndefined();
        expect(await keys.find("k2")).toBeUndefined();
      }));

    test("a hash belongs to one key; a second insert changes nothing, not even the audit log", () =>
      runOn(open, async ({ keys, audit }) => {
        await keys.insert(key("k1"), secret("hash-1"), entry("key.create"));
        const second = async () =>
          keys.insert(key("k2"), secret("hash-1"), entry("key.create", "k2"));
        await expect(second()).rejects.toThrow();
        expect(await keys.find("k2")).toBeUndefined();
        expect(await audit.list({ limit: 10 })).toHaveLength(1);
      }));

    test("keys are listed newest first", () =>
      runOn(open, async ({ keys }) => {
        for (const [id, createdAt] of [
          ["a", 1],
          ["c", 3],
          ["b", 2],
        ] as const) {
          await keys.insert(key(id, { createdAt }), secret(`hash-${id}`), entry("key.create", id));
        }
        expect((await keys.list()).map(({ id }) => id)).toEqual(["c", "b", "a"]);
      }));

    test("a change replaces what it names of a key that is not revoked, and is audited", () =>
      runOn(open, async ({ keys, audit }) => {
        await keys.insert(key("k1"), secret("hash-1"), entry("key.create"));
        const changes = {
          name: "Other",
          scopes: ["bridges"],
          windowLimit: null,
          cuAllowance: 7,
          expiresAt: null,
          ipAllowList: [],
          bridgePerTransferAtomic: null,
          bridgePerDayAtomic: 1n,
        };
        expect(await keys.update("k1", changes, entry("key.update"))).toBe(true);
        expect(await keys.find("k1")).toEqual(key("k1", changes));
        expect(await keys.update("k1", { name: "Third" }, entry("key.update"))).toBe(true);
        expect(await keys.find("k1")).toEqual(key("k1", { ...changes, name: "Third" }));
        await keys.revoke("k1", 9, entry("key.revoke"));
        expect(await keys.update("k1", { name: "Late" }, entry("key.update"))).toBe(false);
        expect(await keys.update("k2", { name: "None" }, entry("key.update", "k2"))).toBe(false);
        expect(await audit.list({ limit: 10 })).toHaveLength(4);
      }));

    test("the secrets of some keys are given without those of others", () =>
      runOn(open, async ({ keys }) => {
        for (const id of ["k1", "k2", "k3"]) {
          await keys.insert(key(id), secret(`hash-${id}`), entry("key.create"));
        }
        const idsOf = async (keyIds?: string[]) =>
          (await keys.secrets(keyIds)).map(({ keyId }) => keyId).toSorted();
        expect(await idsOf(["k3", "k1"])).toEqual(["k1", "k3"]);
        expect(await idsOf([])).toEqual([]);
        expect(await idsOf()).toEqual(["k1", "k2", "k3"]);
      }));

    test("revoking works once and says so", () =>
      runOn(open, async ({ keys, audit }) => {
        await keys.insert(key("k1"), secret("hash-1"), entry("key.create"));
        expect(await keys.revoke("k1", 9, entry("key.revoke"))).toBe(true);
        expect(await keys.revoke("k1", 10, entry("key.revoke"))).toBe(false);
        expect(await keys.revoke("k2", 10, entry("key.revoke"))).toBe(false);
        expect((await keys.find("k1"))?.revokedAt).toBe(9);
        expect(await keys.rotate("k1", secret("hash-2"), 20, entry("key.rotate"))).toBe(false);
        expect(await audit.list({ limit: 10 })).toHaveLength(2);
      }));

    test("rotating lets older secrets end, never later than they already do", () =>
      runOn(open, async ({ keys }) => {
        await keys.insert(key("k1"), secret("hash-1"), entry("key.create"));
        const rotate = (hash: string, createdAt: number, graceUntil: number) =>
          keys.rotate("k1", secret(hash, { createdAt }), graceUntil, entry("key.rotate"));
        expect(await rotate("hash-2", 2, 100)).toBe(true);
        expect(await rotate("hash-3", 3, 500)).toBe(true);
        expect(
          (await keys.secrets(["k1"])).map(({ hash, graceUntil }) => [hash, graceUntil]),
        ).toEqual([
          ["hash-3", null],
          ["hash-2", 500],
          ["hash-1", 100],
        ]);
        expect(await keys.rotate("k2", secret("hash-4"), 1, entry("key.rotate"))).toBe(false);
      }));

    test("the revision differs after every change and only then", () =>
      runOn(open, async ({ keys, usage }) => {
        const seen = [await keys.revision()];
        await keys.insert(key("k1"), secret("hash-1"), entry("key.create"));
        seen.push(await keys.revision());
        await keys.rotate("k1", secret("hash-2"), 9, entry("key.rotate"));
        seen.push(await keys.revision());
        await keys.revoke("k1", 9, entry("key.revoke"));
        seen.push(await keys.revision());
        expect(new Set(seen).size).toBe(4);
        const row = { keyId: "k1", hour: 1, operation: "rpc", chainId: 0, requests: 1, cu: 1 };
        await usage.add([row]);
        expect(await keys.revision()).toBe(seen.at(-1)!);
      }));

    test("usage adds up per key, operation, chain and hour", () =>
      runOn(open, async ({ usage }) => {
        const solana = 1_151_111_081_099_710;
        await usage.add([
          usageRow(10, "rpc", 5042, 1),
          usageRow(10, "rpc", solana, 1),
          usageRow(11, "quote", 1, 2),
        ]);
        await usage.add([
          usageRow(10, "rpc", 5042, 1),
          usageRow(12, "rpc", 5042, 1),
          usageRow(10, "rpc", 1, 9, "k2"),
        ]);
        await usage.add([]);
        expect(await usage.sums("k1", 10, 12)).toEqual([
          { operation: "quote", chainId: 1, requests: 1, cu: 2 },
          { operation: "rpc", chainId: 5042, requests: 2, cu: 2 },
          { operation: "rpc", chainId: solana, requests: 1, cu: 1 },
        ]);
        expect(await usage.totalCu("k1", 10, 13)).toBe(6);
        expect(await usage.totalCu("k1", 11, 12)).toBe(2);
        expect(await usage.totalCu("k3", 0, 100)).toBe(0);
      }));

    test("usage rows of one call are added together or not at all", () =>
      runOn(open, async ({ usage }) => {
        const row = { keyId: "k1", hour: 1, operation: "rpc", chainId: 0, requests: 1, cu: 1 };
        const broken = { ...row, hour: 2, cu: null as unknown as number };
        const add = async () => usage.add([row, broken]);
        await expect(add()).rejects.toThrow();
        expect(await usage.totalCu("k1", 0, 10)).toBe(0);
      }));

    test("a change of an upstream replaces an earlier one, and is listed in order until dropped", () =>
      runOn(open, async ({ upstreamChanges }) => {
        await upstreamChanges.put(upstreamChange("b", 1));
        await upstreamChanges.put(upstreamChange("a", 2, "sealed-a"));
        await upstreamChanges.put(upstreamChange("b", 3, "sealed-b"));
        expect(await upstreamChanges.list()).toEqual([
          upstreamChange("a", 2, "sealed-a"),
          upstreamChange("b", 3, "sealed-b"),
        ]);
        await upstreamChanges.drop("a");
        await upstreamChanges.drop("unknown");
        expect(await upstreamChanges.list()).toEqual([upstreamChange("b", 3, "sealed-b")]);
      }));

    test("the audit log is read in pages, newest first", () =>
      runOn(open, async ({ audit }) => {
        for (let line = 0; line < 5; line++) await audit.append(entry(`action-${line}`));
        const first = await audit.list({ limit: 2 });
        expect(first.map(({ action }) => action)).toEqual(["action-4", "action-3"]);
        expect(first[0]).toMatchObject({ at: 5, actor: "test", detail: { nested: [1, "two"] } });
        const rest = await audit.list({ limit: 10, beforeId: first[1]!.id });
        expect(rest.map(({ action }) => action)).toEqual(["action-2", "action-1", "action-0"]);
      }));

    test("settings are replaced by set and kept by setOnce", () =>
      runOn(open, async ({ settings }) => {
        expect(await settings.get("a")).toBeUndefined();
        expect(await settings.setOnce("a", "1")).toBe("1");
        expect(await settings.setOnce("a", "2")).toBe("1");
        await settings.set("a", "3");
        expect(await settings.get("a")).toBe("3");
      }));

    test("learnt limits are kept per chain and upstream, the newest in place of the older", () =>
      runOn(open, async ({ logCaps }) => {
        const cap = {
          chainId: 1,
          upstream: "a:1",
          maxBlocks: 1_000,
          maxResults: null,
          acceptedBlocks: null,
          learnedAt: 1,
        };
        await logCaps.save(cap);
        await logCaps.save({ ...cap, upstream: "b:1", maxResults: 20_000 });
        await logCaps.save({ ...cap, chainId: 2 });
        const newer = {
          ...cap,
          maxBlocks: null,
          maxResults: 10_000,
          acceptedBlocks: 5_000,
          learnedAt: 2,
        };
        await logCaps.save(newer);
        const stored = [...(await logCaps.list(1))].sort((a, b) =>
          a.upstream < b.upstream ? -1 : 1,
        );
        expect(stored).toEqual([newer, { ...cap, upstream: "b:1", maxResults: 20_000 }]);
        expect(await logCaps.list(3)).toEqual([]);
      }));
  });
}

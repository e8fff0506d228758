import { describe, expect, test } from "bun:test";
import { openDatabase, type UsageRow, type UsageStore } from "../../src/db/index.ts";
import { createMeter } from "../../src/access/meter.ts";
import type { ApiKey } from "../../src/access/index.ts";
import { seededRandom } from "../../src/lib/clock.ts";
import { ledger, ManualClock, startServer } from "./support.ts";

const charge = (keyId: string, chainId?: number) =>
  ({ keyId, operation: "rpc", chainId, requests: 1, cu: 1 }) as const;

/** The real ledger, with a record of its commits. */
function recordedLedger() {
  const database = openDatabase(":memory:");
  const commits: UsageRow[][] = [];
  const store: UsageStore = {
    ...database.usage,
    add(rows) {
      const list = [...rows];
      commits.push(list);
      return database.usage.add(list);
    },
  };
  return { database, store, commits };
}

describe("group commit", () => {
  test("the charges of one turn are one commit of one row per key, operation, chain and hour", async () => {
    const { database, store, commits } = recordedLedger();
    const meter = createMeter(store, new ManualClock());
    await Promise.all([
      ...Array.from({ length: 50 }, () => meter.charge(charge("a", 5042))),
      ...Array.from({ length: 30 }, () => meter.charge(charge("a", 1))),
      ...Array.from({ length: 20 }, () => meter.charge(charge("b"))),
    ]);
    expect(commits).toHaveLength(1);
    expect(commits[0]).toHaveLength(3);
    expect((await ledger(database, "a")).cu).toBe(80);
    expect((await ledger(database, "b")).rows).toEqual([
      { operation: "rpc", chainId: 0, requests: 20, cu: 20 },
    ]);
  });

  test("a charge is in the ledger when its promise resolves, not before", async () => {
    const { database, store } = recordedLedger();
    const meter = createMeter(store, new ManualClock());
    const pending = meter.charge(charge("a"));
    await Promise.resolve();
    expect((await ledger(database, "a")).cu).toBe(0);
    await pending;
    expect((await ledger(database, "a")).cu).toBe(1);
  });

  test("charges that come in during a slow commit wait for the next one, and none is lost", async () => {
    const { database, store } = recordedLedger();
    const gate = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const batches: number[] = [];
    const slow: UsageStore = {
      ...store,
      async add(rows) {
        const list = [...rows];
        batches.push(list[0]?.requests ?? 0);
        started.resolve();
        if (batches.length === 1) await gate.promise;
        await store.add(list);
      },
    };
    const meter = createMeter(slow, new ManualClock());
    const first = meter.charge(charge("a"));
    await started.promise;
    const later = [meter.charge(charge("a")), meter.charge(charge("a"))];
    gate.resolve();
    await Promise.all([first, ...later]);
    expect(batches).toEqual([1, 2]);
    expect((await ledger(database, "a")).cu).toBe(3);
  });

  test("a commit that fails rejects its own charges, and the next ones are committed", async () => {
    const { database, store } = recordedLedger();
    let failures = 1;
    const failing: UsageStore = {
      ...store,
      add(rows) {
        if (failures-- > 0) throw new Error("disk full");
        return store.add(rows);
      },
    };
    const meter = createMeter(failing, new ManualClock());
    const outcomes = await Promise.allSettled([
      meter.charge(charge("a")),
      meter.charge(charge("b")),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await meter.charge(charge("a"));
    expect((await ledger(database, "a")).cu).toBe(1);
    expect((await ledger(database, "b")).cu).toBe(0);
  });
});

const keyWith = (cuAllowance: number | null) => ({ id: "k", cuAllowance }) as ApiKey;

describe("allowance", () => {
  test("concurrent requests together never hold more than the allowance", async () => {
    const { store } = recordedLedger();
    const meter = createMeter(store, new ManualClock());
    const held = await Promise.all(
      Array.from({ length: 100 }, () => meter.reserve(keyWith(10), 3)),
    );
    expect(held.filter((reservation) => reservation !== undefined)).toHaveLength(3);
  });

  test("what was held and not spent is free again; settling twice changes nothing", async () => {
    const { store } = recordedLedger();
    const meter = createMeter(store, new ManualClock());
    const first = await meter.reserve(keyWith(10), 10);
    expect(await meter.reserve(keyWith(10), 1)).toBeUndefined();
    first?.settle(4);
    first?.settle(4);
    expect(await meter.reserve(keyWith(10), 7)).toBeUndefined();
    expect(await meter.reserve(keyWith(10), 6)).toBeDefined();
  });

  test("what the ledger already holds of this month counts, and a new month starts empty", async () => {
    const { store } = recordedLedger();
    const clock = new ManualClock(Date.UTC(2026, 0, 31, 23, 59, 59));
    await createMeter(store, clock).charge({ ...charge("k"), requests: 9, cu: 9 });
    const meter = createMeter(store, clock);
    expect(await meter.reserve(keyWith(10), 2)).toBeUndefined();
    expect(await meter.reserve(keyWith(10), 1)).toBeDefined();
    clock.advance(1_000);
    // The unit held in January is still under way.
    expect(await meter.reserve(keyWith(10), 10)).toBeUndefined();
    expect(await meter.reserve(keyWith(10), 9)).toBeDefined();
    expect(await meter.monthCu("k")).toBe(0);
  });

  test("200 parallel requests on 25 units spend exactly 25", async () => {
    await using server = await startServer();
    const { key: limited, secret } = await server.newKey({ cuAllowance: 25 });
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const response = await server.request("/api/public/prices", secret);
        await response.bytes();
        return response.status;
      }),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(25);
    expect(statuses.filter((status) => status === 429)).toHaveLength(175);
    expect((await ledger(server.database, limited.id)).cu).toBe(25);
  });
});

describe("charging", () => {
  test("receipts and ledger agree over random traffic, and a refused request spends nothing", async () => {
    const random = seededRandom(11);
    await using server = await startServer();
    const cuAllowance = 120;
    const { key, secret } = await server.newKey({ cuAllowance, windowLimit: 2_000 });
    let receipts = 0;
    const paths = ["/api/public/prices", "/api/public/bridge", "/api/public/rpc/5042"];
    const outcomes = ["", "400", "crash", "unreachable"];
    const send = async () => {
      const path = paths[Math.floor(random() * paths.length)] ?? "";
      const items = 1 + Math.floor(random() * 4);
      const outcome = outcomes[Math.floor(random() * outcomes.length)] ?? "";
      const isRpc = path.includes("rpc");
      const response = await server.request(path, secret, {
        method: path.includes("prices") ? "GET" : "POST",
        headers: { "x-items": String(items), "x-outcome": outcome },
      });
      await response.bytes();
      const cu = Number(response.headers.get("x-cu-cost"));
      expect(cu > 0).toBe(response.status === 200);
      if (response.status === 200) expect(cu).toBe(isRpc ? items : 1);
      receipts += cu;
    };
    for (let round = 0; round < 15; round++) {
      await Promise.all(Array.from({ length: 20 }, send));
    }
    const { cu, requests: counted } = await ledger(server.database, key.id);
    expect(cu).toBe(receipts);
    // Every operation of this test costs 1 per request.
    expect(counted).toBe(receipts);
    expect(cu).toBeLessThanOrEqual(cuAllowance);
    // Nothing stays held: what is left can be spent to the last unit.
    const left = cuAllowance - cu;
    const rest = await server.request("/api/public/usage", secret);
    expect((await rest.json()).data.allowance).toEqual({ cu: cuAllowance, remaining: left });
    for (let unit = 0; unit < left; unit++) {
      expect((await server.request("/api/public/prices", secret)).status).toBe(200);
    }
    expect((await server.request("/api/public/prices", secret)).status).toBe(429);
  });

  test("a batch takes one request of the window and one unit per item, or nothing at all", async () => {
    await using server = await startServer();
    const { key, secret } = await server.newKey({ windowLimit: 10, cuAllowance: 7 });
    const batch = async (items: number) => {
      const headers = { "x-items": String(items) };
      const init = { method: "POST", headers };
      const response = await server.request("/api/public/rpc/5042", secret, init);
      const { status } = response;
      const code = response.headers.get("x-error-code");
      return { status, code, remaining: response.headers.get("x-ratelimit-remaining") };
    };
    expect(await batch(4)).toEqual({ status: 200, code: null, remaining: "6" });
    // A refused batch takes its own request of the window and nothing else.
    expect(await batch(4)).toEqual({ status: 429, code: "CU_ALLOWANCE_EXCEEDED", remaining: "5" });
    expect(await batch(2)).toEqual({ status: 200, code: null, remaining: "3" });
    expect((await ledger(server.database, key.id)).rows).toEqual([
      { operation: "rpc", chainId: 5042, requests: 6, cu: 6 },
    ]);

    const { key: narrow, secret: narrowSecret } = await server.newKey({ windowLimit: 3 });
    const headers = { "x-items": "4" };
    const init = { method: "POST", headers };
    const refused = await server.request("/api/public/rpc/5042", narrowSecret, init);
    expect(refused.headers.get("x-error-code")).toBe("RATE_LIMIT_EXCEEDED");
    expect(refused.headers.get("x-ratelimit-remaining")).toBe("2");
    expect((await ledger(server.database, narrow.id)).cu).toBe(0);
  });

  test("a request whose client has gone is not charged and holds nothing", async () => {
    const held = Promise.withResolvers<void>();
    await using server = await startServer({ onHold: held.resolve });
    const { key, secret } = await server.newKey({ cuAllowance: 1 });
    const hangUp = new AbortController();
    const headers = { "x-outcome": "hold" };
    const init = { method: "POST", headers, signal: hangUp.signal };
    const gone = server.request("/api/public/rpc/5042", secret, init);
    await held.promise;
    expect((await server.request("/api/public/prices", secret)).status).toBe(429);
    hangUp.abort();
    await expect(gone).rejects.toThrow();
    while ((await server.request("/api/public/prices", secret)).status !== 200);
    const { rows } = await ledger(server.database, key.id);
    expect(rows).toEqual([{ operation: "prices", chainId: 0, requests: 1, cu: 1 }]);
  });

  test("an answer whose charge cannot be written is not sent as a success", async () => {
    const database = openDatabase(":memory:");
    const usage: UsageStore = {
      ...database.usage,
      add() {
        throw new Error("disk full");
      },
    };
    await using server = await startServer({ database: { ...database, usage } });
    const { secret } = await server.newKey({ cuAllowance: 1 });
    for (let attempt = 0; attempt < 3; attempt++) {
      const response = await server.request("/api/public/prices", secret);
      expect(response.status).toBe(500);
      expect(response.headers.get("x-cu-cost")).toBe("0");
    }
    database.close();
  });
});

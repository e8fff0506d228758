import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Database, StoredTransfer } from "../../src/db/index.ts";
import { engines } from "../db/engines.ts";

// Postgres may have to be started first.
setDefaultTimeout(60_000);

const transfer = (id: string, changes: Partial<StoredTransfer> = {}): StoredTransfer => ({
  id,
  keyId: "key",
  state: "created",
  fromChainId: 1,
  toChainId: 2,
  amount: 10n,
  maxFee: 1n,
  recipient: "0x",
  mintRecipient: "0x",
  sender: null,
  useForwarder: true,
  minFinalityThreshold: 2_000,
  hookData: "0x",
  authorization: null,
  estimatedTime: "1-5 minutes",
  destinationBlock: 7,
  transactionHash: null,
  burnHash: null,
  messageIndex: null,
  message: null,
  attestation: null,
  feeExecuted: null,
  delayReason: null,
  mintHash: null,
  attention: null,
  checks: 0,
  nextCheckAt: 0,
  createdAt: 1_000,
  stateAt: 1_000,
  updatedAt: 1_000,
  ...changes,
});
const limits = { perKeyAndDay: 25n, perDay: 40n, daySince: 1_000 };
const create = (
  { bridge }: Database,
  row: StoredTransfer,
  idempotency?: { key: string; bodyHash: string },
) => bridge.create({ transfer: row, idempotency, limits });
const reserve = ({ bridge }: Database, transferId: string, floor: number) =>
  bridge.reserveNonces({
    chainId: 1,
    signer: "0xa",
    transferId,
    purposes: ["approve", "burn"],
    floor,
  });

describe.each(engines)("$name", ({ open }) => {
  test("a transfer is kept as it was given", async () => {
    using opened = await open();
    const row = transfer("t", { authorization: { salt: "0x01" }, feeExecuted: 10n ** 15n });
    expect(await create(opened.database, row)).toEqual({ kind: "created" });
    expect(await opened.database.bridge.find("t")).toEqual(row);
  });

  test("limits count amount and fee of all that did not fail, of the day only", async () => {
    using opened = await open();
    const { database } = opened;
    await create(database, transfer("old", { createdAt: 999, amount: 20n }));
    await create(database, transfer("a"));
    await create(database, transfer("b"));
    expect(await create(database, transfer("c"))).toEqual({ kind: "limit", which: "perKeyAndDay" });
    const other = { keyId: "other" };
    await create(database, transfer("d", other));
    expect(await create(database, transfer("e", other))).toEqual({
      kind: "limit",
      which: "perDay",
    });
    const step = { from: "created", event: "abandoned", at: 2, changes: {}, detail: {} };
    await database.bridge.apply({ ...step, id: "a", to: "failed" });
    expect(await create(database, transfer("f"))).toEqual({ kind: "created" });
    expect(await database.bridge.outstanding(1, ["created"])).toBe(21n + 33n);
  });

  test("an idempotency key stands for one transfer until it is given back", async () => {
    using opened = await open();
    const { database } = opened;
    const key = { key: "k", bodyHash: "h" };
    await create(database, transfer("a"), key);
    const known = { kind: "known", transferId: "a", bodyHash: "h" } as const;
    expect(await create(database, transfer("b"), { ...key, bodyHash: "x" })).toEqual(known);
    expect(await database.bridge.find("b")).toBeUndefined();
    await database.bridge.releaseIdempotencyKey("a");
    expect(await create(database, transfer("b"), key)).toEqual({ kind: "created" });
  });

  test("a step applies once, from its state, with its transactions and its line of history", async () => {
    using opened = await open();
    const { database } = opened;
    await create(database, transfer("a", { checks: 5 }));
    const transaction = {
      hash: "0x1",
      transferId: "a",
      chainId: 1,
      signer: "0xa",
      purpose: "burn",
      nonce: 4,
      raw: "0x02",
      maxFeePerGas: 10n ** 20n,
      maxPriorityFeePerGas: 1n,
      validUntilHeight: null,
      createdAt: 2,
    };
    const step = {
      id: "a",
      from: "created",
      to: "signed",
      event: "burnSigned",
      at: 2,
      changes: { transactionHash: "0x1" },
      transactions: [transaction],
      detail: { burn: "0x1" },
    };
    expect(await database.bridge.apply(step)).toBe(true);
    expect(await database.bridge.apply(step)).toBe(false);
    expect(await database.bridge.findByHash("0x1")).toMatchObject({
      state: "signed",
      checks: 0,
      stateAt: 2,
    });
    expect(await database.bridge.transactions("a")).toEqual([transaction]);
    expect((await database.bridge.events("a")).map(({ event }) => event)).toEqual([
      "created",
      "burnSigned",
    ]);
  });

  test("nonces are given out once, in order, and again to the same purpose", async () => {
    using opened = await open();
    const { database } = opened;
    for (const id of ["a", "b", "c"]) await create(database, transfer(id, { amount: 1n }));
    expect(await reserve(database, "a", 5)).toEqual([5, 6]);
    expect(await reserve(database, "b", 5)).toEqual([7, 8]);
    expect(await reserve(database, "a", 9)).toEqual([5, 6]);
    await database.bridge.spendNonces("a", 1, [5, 6]);
    expect(await reserve(database, "a", 20)).toEqual([20, 21]);
    expect(await reserve(database, "c", 0)).toEqual([22, 23]);
  });

  test("a transfer that was given nonces is not given up, and one given up gets none", async () => {
    using opened = await open();
    const { database } = opened;
    await create(database, transfer("a", { amount: 1n }));
    await create(database, transfer("b", { amount: 1n }));
    await reserve(database, "a", 0);
    const step = { from: "created", to: "failed", event: "abandoned", at: 2, changes: {} };
    const giveUp = (id: string) =>
      database.bridge.apply({ ...step, id, detail: {}, unlessReserved: true });
    expect([await giveUp("a"), await giveUp("b")]).toEqual([false, true]);
    expect(async () => reserve(database, "b", 0)).toThrow("failed");
  });

  test("a lease has one owner over all processes until it is given back or its time ends", async () => {
    using opened = await open();
    const here = opened.database.bridge;
    const other = await opened.again();
    const there = other.bridge;
    expect(await here.acquireLease("l", "a", 0, 100)).toBe(true);
    expect(await there.acquireLease("l", "b", 99, 100)).toBe(false);
    expect(await here.acquireLease("l", "a", 99, 100)).toBe(true);
    expect(await there.acquireLease("l", "b", 150, 100)).toBe(false);
    expect(await there.acquireLease("m", "b", 150, 100)).toBe(true);
    await there.releaseLease("l", "b");
    expect(await there.acquireLease("l", "b", 160, 100)).toBe(false);
    await here.releaseLease("l", "a");
    expect(await there.acquireLease("l", "b", 170, 100)).toBe(true);
    // A process that ends gives nothing back.
    other.close();
    const deadline = performance.now() + 20_000;
    while (!(await here.acquireLease("l", "a", 300, 100))) {
      expect(performance.now()).toBeLessThan(deadline);
      await Bun.sleep(10);
    }
  });
});

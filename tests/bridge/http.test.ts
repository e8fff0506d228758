import { afterAll, beforeAll, expect, test } from "bun:test";
import { openDatabase } from "../../src/db/index.ts";
import { temporaryDirectory } from "../support/sandbox.ts";
import { type Stack, startStack } from "../app/stack.ts";
import { freshRecipient } from "./world.ts";

const databaseUrl = `file:${temporaryDirectory()}/bridge.db` as const;
let stack: Stack;
let key: string;
beforeAll(async () => {
  stack = await startStack([5042002, 84532], databaseUrl);
  key = (await stack.service.key({ scopes: ["bridges"] })).secret;
}, 60_000);
afterAll(() => stack.stop());

const body = (changes: object = {}) => ({
  fromChainId: 5042002,
  toChainId: 84532,
  amount: "10.00",
  token: "USDC",
  recipientAddress: freshRecipient(),
  ...changes,
});

async function post(content: object, headers: Record<string, string> = {}, secret = key) {
  const answer = await fetch(`${stack.service.base}/bridge`, {
    method: "POST",
    headers: { "x-api-key": secret, ...headers },
    body: JSON.stringify(content),
  });
  const code = answer.headers.get("x-error-code");
  return {
    status: answer.status,
    code,
    cu: answer.headers.get("x-cu-cost"),
    text: await answer.text(),
  };
}

test("a transfer is answered with hash, pending and a range, and followed until completed", async () => {
  const content = body();
  const { status, cu, text } = await post(content);
  expect([status, cu]).toEqual([200, "5"]);
  expect(JSON.parse(text)).toEqual({
    success: true,
    transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    status: "pending",
    estimatedTime: expect.stringMatching(/^[0-9]+-[0-9]+ minutes$/),
  });
  const { transactionHash } = JSON.parse(text);
  const statuses = new Set<string>();
  for (;;) {
    // In any spelling of the hash.
    const shown =
      statuses.size % 2 ? transactionHash : `0x${transactionHash.slice(2).toUpperCase()}`;
    const answer = await fetch(`${stack.service.base}/bridge/${shown}`, {
      headers: { "x-api-key": key },
    });
    const { success, data } = await answer.json();
    expect([answer.status, answer.headers.get("x-cu-cost"), success]).toEqual([200, "1", true]);
    expect(Object.keys(data)).toEqual([
      "transactionHash",
      "status",
      "fromChainId",
      "toChainId",
      "amount",
      "fee",
      "recipientAddress",
      "senderAddress",
      "useForwarder",
      "destinationTransactionHash",
      "message",
      "attestation",
      "delayReason",
      "estimatedTime",
      "createdAt",
      "updatedAt",
    ]);
    statuses.add(data.status);
    if (data.status === "completed") {
      expect(data).toMatchObject({ amount: "10.000000", fee: "0.209052" });
      expect(data.destinationTransactionHash).toMatch(/^0x[0-9a-f]{64}$/);
      break;
    }
    await Bun.sleep(20);
  }
}, 60_000);

test("an Idempotency-Key of 255 characters gives equal bytes, a longer or empty one 400, another body 409", async () => {
  const content = body();
  const longest = { "idempotency-key": "k".repeat(255) };
  const answers = await Promise.all(Array.from({ length: 10 }, () => post(content, longest)));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers[0]?.status).toBe(200);
  expect(await post(body(), longest)).toMatchObject({
    status: 409,
    code: "IDEMPOTENCY_CONFLICT",
    cu: "0",
  });
  const longer = { "idempotency-key": "k".repeat(256) };
  expect(await post(content, longer)).toMatchObject({ status: 400, code: "INVALID_FIELD" });
  expect(await post(content, { "idempotency-key": "" })).toMatchObject({ status: 400 });
});

test("a test key does not move mainnet funds, and a malformed authorization is named", async () => {
  const mainnet = body({ fromChainId: 5042, toChainId: 8453 });
  expect(await post(mainnet)).toMatchObject({ status: 403, code: "TEST_KEY_ON_MAINNET" });
  const authorization = { validAfter: 0, validBefore: 1, salt: "0x", signature: "0x" };
  const malformed = await post(body({ authorization }));
  expect(malformed).toMatchObject({ status: 400, code: "INVALID_FIELD" });
  expect(malformed.text).toContain("authorization.salt");
});

test("a key's own limits are those of its record, and a change of them holds at once", async () => {
  const { access } = stack.service;
  const limits = { bridgePerTransferAtomic: 5_000_000n, bridgePerDayAtomic: 8_000_000n };
  const { id, secret } = await stack.service.key({ scopes: ["bridges"], ...limits });
  const send = (amount: string) => post(body({ amount, useForwarder: false }), {}, secret);
  const refused = await send("5.01");
  expect(refused).toMatchObject({ status: 403, code: "BRIDGE_LIMIT_EXCEEDED", cu: "0" });
  expect(refused.text).toContain("5.000000 USDC per transfer");
  expect((await send("5")).status).toBe(200);
  const tooMuch = await send("5");
  expect(tooMuch).toMatchObject({ status: 403, code: "BRIDGE_LIMIT_EXCEEDED" });
  expect(tooMuch.text).toContain("8.000000 USDC per key and day");
  await access.keys.update(id, { bridgePerDayAtomic: null }, "test");
  expect((await send("5")).status).toBe(200);
});

test("a transfer is shown to keys of the same owner, and is 404 to those of others", async () => {
  const { access } = stack.service;
  const database = openDatabase(databaseUrl);
  const newAccount = async (id: string) => {
    const at = { createdAt: 1, lastSignInAt: 1, disabledAt: null };
    const account = { id, address: `0x${id}`, scopes: null, maxKeys: null, maxWindowLimit: null };
    const entry = { at: 1, actor: "test", action: "account.create", subject: id, detail: {} };
    await database.accounts.insert({ ...account, ...at }, undefined, entry);
    return { accountId: id, maxKeys: 10 };
  };
  const [alice, bob] = [await newAccount("alice"), await newAccount("bob")];
  const keyOf = async (owner?: { accountId: string; maxKeys: number }) => {
    const input = { environment: "test", scopes: ["bridges"] } as const;
    return (await access.keys.create(input, "test", owner)).secret;
  };
  const ofAlice = await keyOf(alice);
  const { transactionHash } = JSON.parse((await post(body(), {}, ofAlice)).text);
  const statusFor = async (secret: string, hash = transactionHash) => {
    const headers = { "x-api-key": secret };
    const answer = await fetch(`${stack.service.base}/bridge/${hash}`, { headers });
    return [answer.status, answer.headers.get("x-error-code")];
  };
  expect(await statusFor(ofAlice)).toEqual([200, null]);
  expect(await statusFor(await keyOf(alice))).toEqual([200, null]);
  expect(await statusFor(await keyOf(bob))).toEqual([404, "TRANSFER_NOT_FOUND"]);
  expect(await statusFor(key)).toEqual([404, "TRANSFER_NOT_FOUND"]);
  database.close();
  // The operator's keys are of one owner.
  const ofOperator = JSON.parse((await post(body())).text).transactionHash;
  expect(await statusFor(await keyOf(), ofOperator)).toEqual([200, null]);
  expect(await statusFor(ofAlice, ofOperator)).toEqual([404, "TRANSFER_NOT_FOUND"]);
});

test("metrics tell how many transfers stand where", async () => {
  const text = await (await fetch(`${stack.service.origin}/metrics`)).text();
  expect(text).toMatch(/causeway_bridge_transfers\{state="completed"\} [1-9]/);
  expect(text).toMatch(/causeway_bridge_transfers_total\{state="burned"\} [1-9]/);
});

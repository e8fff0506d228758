import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { registryOf } from "../upstream/node.ts";
import { type Proxy, startProxy } from "./app.ts";
import { type EmittingChain, startEmittingChain } from "./emitter.ts";
import { openRawSocket } from "./rawSocket.ts";
import { openSocket } from "./socket.ts";

let chain: EmittingChain;

beforeAll(async () => {
  chain = await startEmittingChain(1);
}, 60_000);
afterAll(() => chain.anvil.stop());

const start = (
  ...[key, sockets]: [Parameters<typeof startProxy>[1]?, Parameters<typeof startProxy>[2]?]
) => startProxy(registryOf([chain.anvil.url], { blockTimeMs: 250 }), key, sockets);

async function cuOf(proxy: Proxy): Promise<number> {
  const sums = await proxy.access.meter.usage(proxy.keyId, 0, Date.now() + 3_600_000);
  return sums.reduce((sum, { operation, cu }) => (operation === "rpc" ? sum + cu : Number.NaN), 0);
}

const item = (id: number, params: unknown) =>
  JSON.stringify({ jsonrpc: "2.0", id, method: "eth_subscribe", params });

const subscribe = (id: number) =>
  JSON.stringify({ jsonrpc: "2.0", id, method: "eth_subscribe", params: ["newHeads"] });

const isPing = ({ opcode }: { opcode: number }) => opcode === 9;

describe("notifications", () => {
  test("cost one unit each, in the ledger before they come, and nothing of the window", async () => {
    const proxy = await start({ windowLimit: 10 });
    const [one, two] = await Promise.all([openSocket(proxy), openSocket(proxy)]);
    await one.result("eth_subscribe", ["newHeads"]);
    await two.result("eth_subscribe", ["logs", {}]);
    for (let n = 0; n < 12; n++) await chain.emit(n);
    await Promise.all([one.notified(12), two.notified(24)]);
    expect(await cuOf(proxy)).toBe(2 + 12 + 24);
    const { headers } = await proxy.post('{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}');
    expect(headers.get("x-ratelimit-remaining")).toBe("5");
    await Promise.all([one.close(), two.close()]);
    await proxy.stop();
  });

  test("end with the allowance, which is never overdrawn", async () => {
    const proxy = await start({ cuAllowance: 8 });
    const client = await openSocket(proxy);
    await client.result("eth_subscribe", ["logs", {}]);
    for (let n = 0; n < 6; n++) await chain.emit(n);
    expect(await client.closed).toEqual({
      code: 4429,
      reason: "compute-unit allowance is used up",
    });
    expect(await cuOf(proxy)).toBeLessThanOrEqual(8);
    expect(await cuOf(proxy)).toBe(1 + client.notifications.length);
    await proxy.stop();
  });

  test("cease when the key is revoked, before anything is sent", async () => {
    const proxy = await start({}, { checkMs: 60_000 });
    const client = await openSocket(proxy);
    await client.result("eth_subscribe", ["newHeads"]);
    await proxy.access.keys.revoke(proxy.keyId, "test");
    await chain.emit(1);
    expect((await client.closed).code).toBe(4401);
    expect(client.notifications).toEqual([]);
    expect(await cuOf(proxy)).toBe(1);
    await proxy.stop();
  });
});

test("subscriptions per socket are bounded, and the places come back", async () => {
  const proxy = await start({}, { maxSubscriptions: 2 });
  const client = await openSocket(proxy);
  const first = await client.result("eth_subscribe", ["newHeads"]);
  await client.result("eth_subscribe", ["logs", {}]);
  expect((await client.call("eth_subscribe", ["newHeads"])).error?.code).toBe(-32_003);
  await client.result("eth_unsubscribe", [first]);
  await client.result("eth_subscribe", ["newHeads"]);
  expect(proxy.connections.counts()).toEqual({ sockets: 1, subscriptions: 2 });
  await client.close();
  expect(proxy.connections.counts()).toEqual({ sockets: 0, subscriptions: 0 });
  await proxy.stop();
});

test("a batch may subscribe, and its answer comes before the first notification", async () => {
  const proxy = await start();
  const client = await openSocket(proxy);
  const text = await client.exchange(`[${item(1, ["newHeads"])},${item(2, ["logs", {}])}]`);
  const ids = JSON.parse(text).map(({ result }: { result: string }) => result);
  expect(new Set(ids).size).toBe(2);
  for (const id of ids) expect(id).toMatch(/^0x[0-9a-f]{32}$/);
  await chain.emit(1);
  await client.notified(3);
  expect(new Set(client.notifications.map(({ subscription }) => subscription))).toEqual(
    new Set(ids),
  );
  await client.close();
  await proxy.stop();
});

test("over HTTP there is nothing to subscribe to", async () => {
  const proxy = await start();
  const { text } = await proxy.post(
    '{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}',
  );
  expect(JSON.parse(text).error.code).toBe(-32_601);
  await proxy.stop();
});

describe("a consumer that does not read", () => {
  const MAX_BLOCKS = 400;

  test("is dropped with a code and a reason; others get everything, in order", async () => {
    const limits = { highWaterBytes: 65_536, maxQueuedBytes: 262_144 };
    const proxy = await start({}, limits);
    const quick = await openSocket(proxy);
    await quick.result("eth_subscribe", ["newHeads"]);
    const slow = await openRawSocket(proxy);
    for (let id = 1; id <= 100; id++) slow.send(subscribe(id));
    await slow.frame(() => slow.frames.length === 100);
    slow.pause();
    let blocks = 0;
    while (proxy.connections.counts().subscriptions > 1 && blocks < MAX_BLOCKS) {
      await chain.emit(blocks++);
    }
    // The close frame is behind what the peer did not read, and waits for it only so long.
    slow.resume();
    await quick.notified(blocks);
    const numbers = quick.notifications.map(({ result }) => Number(result["number"]));
    expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
    expect(proxy.connections.counts().subscriptions).toBe(1);
    const { payload } = await slow.frame(({ opcode }) => opcode === 8);
    expect([payload.readUInt16BE(0), payload.subarray(2).toString()]).toEqual([
      4408,
      "consumer is too slow",
    ]);
    await slow.closed;
    // What was sent before is whole, and each was charged.
    const pushed = slow.frames.filter(({ opcode }) => opcode === 1).slice(100);
    for (const { payload: text } of pushed) JSON.parse(text.toString());
    expect(await cuOf(proxy)).toBeGreaterThanOrEqual(101 + blocks + pushed.length);
    await quick.close();
    await proxy.stop();
  }, 60_000);

  test("is cut off when it never reads again", async () => {
    const proxy = await start({}, { highWaterBytes: 65_536, stallMs: 100 });
    const slow = await openRawSocket(proxy);
    slow.pause();
    for (let id = 1; id <= ANSWERS; id++) slow.send(largeRequest(id));
    const until = performance.now() + 10_000;
    while (proxy.connections.counts().sockets > 0 && performance.now() < until) await Bun.sleep(10);
    expect(proxy.connections.counts().sockets).toBe(0);
    slow.end();
    await proxy.stop();
  }, 60_000);

  // The server's own limit leaves out what does not fit, and says nothing.
  test("for a moment loses nothing: answers wait for room", async () => {
    const proxy = await start({}, { highWaterBytes: 65_536 });
    const patient = await openRawSocket(proxy);
    patient.pause();
    for (let id = 1; id <= ANSWERS; id++) patient.send(largeRequest(id));
    while ((await cuOf(proxy)) === 0) await Bun.sleep(1);
    expect(await cuOf(proxy)).toBeLessThan(ANSWERS);
    patient.resume();
    await patient.frame(() => patient.frames.length === ANSWERS);
    const ids = patient.frames.map(({ payload }) => JSON.parse(payload.toString()).id);
    expect(ids.toSorted((left, right) => left - right)).toEqual(ids.map((_, index) => index + 1));
    expect(await cuOf(proxy)).toBe(ANSWERS);
    patient.end();
    await proxy.stop();
  }, 60_000);

  /** Together more than all buffers on the way hold. */
  const ANSWERS = 40;
  const LARGE = `0x${"c0".repeat(20)}`;
  const largeRequest = (id: number) =>
    JSON.stringify({ jsonrpc: "2.0", id, method: "eth_getCode", params: [LARGE, "latest"] });
  beforeAll(async () => {
    await chain.anvil.rpc.call("anvil_setCode", [LARGE, `0x${"5b".repeat(500_000)}`]);
  });
});

describe("signs of life", () => {
  test("a peer that answers pings stays, one that does not is dropped", async () => {
    const proxy = await start({}, { pingMs: 200, checkMs: 20 });
    const alive = await openRawSocket(proxy);
    const dead = await openRawSocket(proxy);
    const deadAtMs = performance.now();
    for (let pings = 1; pings <= 3; pings++) {
      await alive.frame(() => alive.frames.filter(isPing).length >= pings);
      alive.pong();
    }
    await dead.closed;
    expect(performance.now() - deadAtMs).toBeGreaterThanOrEqual(400);
    expect(dead.frames.some(isPing)).toBe(true);
    expect(proxy.connections.counts().sockets).toBe(1);
    alive.end();
    await proxy.stop();
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { type FaultNode, startFaultNode } from "../../src/sandbox/faults/node.ts";
import { registryOf } from "../upstream/node.ts";
import { type Proxy, startProxy } from "./app.ts";
import { bloomOf } from "../../src/upstream/blocks/bloom.ts";
import { EMITTER, type EmittingChain, OTHER_EMITTER, startEmittingChain, word } from "./emitter.ts";
import { openSocket, type SocketClient } from "./socket.ts";

let chain: EmittingChain;
let nodes: FaultNode[];
let proxy: Proxy;
const sockets: SocketClient[] = [];

beforeAll(async () => {
  chain = await startEmittingChain(1);
  nodes = [1, 2, 3].map(() => startFaultNode({ target: chain.anvil.url }));
  proxy = await startProxy(
    registryOf(
      nodes.map(({ url }) => url),
      { blockTimeMs: 250 },
    ),
    { windowLimit: 1_000_000 },
  );
}, 60_000);
afterEach(async () => {
  await Promise.all(sockets.splice(0).map((opened) => opened.close()));
  for (const node of nodes) await node.setFaults([]);
});
afterAll(async () => {
  await proxy.stop();
  await Promise.all(nodes.map((node) => node.stop()));
  await chain.anvil.stop();
});

async function socket(): Promise<SocketClient> {
  const opened = await openSocket(proxy);
  sockets.push(opened);
  return opened;
}

/** What tells a log of a chain from every other. */
const place = (log: Record<string, unknown>) =>
  `${String(log["blockHash"])} ${String(log["logIndex"])}`;
const resultsOf = (client: SocketClient) => client.notifications.map(({ result }) => result);

describe("newHeads", () => {
  test("every block comes once, in order, as its header", async () => {
    const client = await socket();
    const id = await client.result("eth_subscribe", ["newHeads"]);
    const first = (await chain.head()) + 1;
    for (let n = 0; n < 20; n++) await chain.emit(n);
    await client.notified(20);
    const last = (await chain.anvil.rpc.call("eth_getBlockByNumber", ["latest", false])) as Record<
      string,
      unknown
    >;
    const heads = resultsOf(client);
    expect(heads.map(({ number }) => Number(number))).toEqual(
      heads.map((_, index) => first + index),
    );
    expect(client.notifications.every(({ subscription }) => subscription === id)).toBe(true);
    const { transactions: _, uncles: _uncles, withdrawals: _withdrawals, ...header } = last;
    expect(heads.at(-1)).toEqual(header);
  });

  test("after eth_unsubscribe nothing comes any more", async () => {
    const [client, other] = await Promise.all([socket(), socket()]);
    const id = await client.result("eth_subscribe", ["newHeads"]);
    await other.result("eth_subscribe", ["newHeads"]);
    expect(await client.result<boolean>("eth_unsubscribe", [id])).toBe(true);
    expect(await client.result<boolean>("eth_unsubscribe", [id])).toBe(false);
    await chain.emit(1);
    await other.notified(1);
    await client.result("eth_chainId");
    expect(client.notifications).toEqual([]);
  });

  test("one socket cannot end another's subscription", async () => {
    const [client, other] = await Promise.all([socket(), socket()]);
    const id = await client.result("eth_subscribe", ["newHeads"]);
    expect(await other.result<boolean>("eth_unsubscribe", [id])).toBe(false);
    await chain.emit(1);
    await client.notified(1);
  });
});

describe("logs", () => {
  test("filters choose by address and topics, and logs are the node's own", async () => {
    const filters: [string, unknown][] = [
      ["all", {}],
      ["address", { address: EMITTER }],
      ["addresses", { address: [EMITTER.toUpperCase().replace("0X", "0x"), OTHER_EMITTER] }],
      ["topic", { topics: [word(2)] }],
      ["any then value", { topics: [null, word(7)] }],
      [
        "alternatives",
        {
          address: OTHER_EMITTER,
          topics: [
            [word(1), word(2)],
            [word(7), word(8)],
          ],
        },
      ],
      ["nothing", { topics: [word(3)] }],
    ];
    const clients = new Map<string, SocketClient>();
    for (const [name, filter] of filters) {
      const client = await socket();
      await client.result("eth_subscribe", ["logs", filter]);
      clients.set(name, client);
    }
    const from = (await chain.head()) + 1;
    await chain.emit(7);
    await chain.inOneBlock(async () => {
      await chain.send(8, OTHER_EMITTER);
      await chain.send(9);
      await chain.send(7, OTHER_EMITTER);
    });
    await clients.get("all")?.notified(8);
    for (const [name, filter] of filters) {
      const expected = await chain.anvil.rpc.call("eth_getLogs", [
        { ...(filter as object), fromBlock: `0x${from.toString(16)}` },
      ]);
      const client = clients.get(name) as SocketClient;
      await client.result("eth_chainId");
      expect([name, resultsOf(client)]).toEqual([name, expected as Record<string, unknown>[]]);
    }
  });

  test.each([
    ["no kind", []],
    ["unknown kind", ["newPendingTransactions"]],
    ["address of wrong length", ["logs", { address: "0x01" }]],
    ["topic of wrong length", ["logs", { topics: ["0x01"] }]],
    ["five topics", ["logs", { topics: [null, null, null, null, null] }]],
    ["topics no array", ["logs", { topics: {} }]],
    ["a block hash", ["logs", { blockHash: word(1) }]],
    ["a filter that is no object", ["logs", "all"]],
    ["more addresses than allowed", ["logs", { address: Array(1_001).fill(EMITTER) }]],
  ])("refused for good: %s", async (_, params) => {
    const client = await socket();
    const { error } = await client.call("eth_subscribe", params);
    expect(error?.code).toBe(-32_602);
  });

  test("one node call per block serves every socket and every filter", async () => {
    const clients = await Promise.all(Array.from({ length: 12 }, socket));
    for (const [index, client] of clients.entries()) {
      await client.result("eth_subscribe", ["logs", { topics: [word(1 + (index % 2))] }]);
    }
    const before = nodes.reduce(
      (sum, { ledger }) => sum + (ledger.counts().methods["eth_getLogs"] ?? 0),
      0,
    );
    const BLOCKS = 15;
    for (let n = 0; n < BLOCKS; n++) await chain.emit(n);
    await Promise.all(clients.map((client) => client.notified(BLOCKS)));
    const after = nodes.reduce(
      (sum, { ledger }) => sum + (ledger.counts().methods["eth_getLogs"] ?? 0),
      0,
    );
    expect(after - before).toBe(BLOCKS);
    for (const client of clients) expect(client.notifications).toHaveLength(BLOCKS);
  });
});

test("a block's logs give its bloom, so that an answer is known to be whole", async () => {
  await chain.inOneBlock(async () => {
    // One after the other, because the node gives each the next nonce.
    for (const n of [1, 2, 3]) await chain.send(n);
  });
  const logs = (await chain.logs(await chain.head())) as never[];
  const block = await chain.anvil.rpc.call("eth_getBlockByNumber", ["latest", false]);
  const bloom = Buffer.from(bloomOf(logs)).toString("hex");
  expect(logs).toHaveLength(6);
  expect(`0x${bloom}`).toBe((block as { logsBloom: string }).logsBloom);
});

describe("a reorganised chain", () => {
  test("removed logs come again with removed: true, last first, then the new ones", async () => {
    const client = await socket();
    const heads = await socket();
    await chain.emit(0);
    await client.result("eth_subscribe", ["logs", { address: EMITTER }]);
    await heads.result("eth_subscribe", ["newHeads"]);
    for (let n = 1; n <= 3; n++) await chain.emit(n);
    await client.notified(6);
    const told = resultsOf(client);
    // The last two blocks are replaced by three, of which the middle one has a new log.
    await chain.anvil.rpc.call("anvil_reorg", [2, []]);
    await chain.emit(40);
    await client.notified(6 + 4 + 2);
    const after = resultsOf(client).slice(6);
    expect(after.slice(0, 4)).toEqual(
      told
        .slice(2)
        .reverse()
        .map((log) => Object.assign({}, log, { removed: true })),
    );
    expect(after.slice(4).map(({ topics }) => (topics as string[])[1])).toEqual([
      word(40),
      word(40),
    ]);
    // Applied in order, notifications give the chain's logs.
    const kept = new Map<string, Record<string, unknown>>();
    for (const log of resultsOf(client)) {
      if (log["removed"]) kept.delete(place(log));
      else kept.set(place(log), log);
    }
    const from = Number(told[0]?.["blockNumber"]);
    expect([...kept.values()]).toEqual(await chain.logs(from));
    await heads.notified(6);
    const numbers = resultsOf(heads).map(({ number }) => Number(number) - from);
    expect(numbers).toEqual([0, 1, 2, 1, 2, 3]);
  });

  test("a branch of equal height is followed once nothing else is seen", async () => {
    const client = await socket();
    await client.result("eth_subscribe", ["logs", {}]);
    await chain.emit(1);
    await client.notified(2);
    await chain.anvil.rpc.call("anvil_reorg", [1, []]);
    await client.notified(4);
    expect(
      resultsOf(client)
        .slice(2)
        .every(({ removed }) => removed === true),
    ).toBe(true);
  });
});

test("50 kills of the upstream: no log missing, none twice", async () => {
  const client = await socket();
  await client.result("eth_subscribe", ["logs", { address: EMITTER }]);
  const from = (await chain.head()) + 1;
  let emitted = 0;
  let slowestMs = 0;
  for (let kill = 0; kill < 50; kill++) {
    // Every tenth time all nodes die at once.
    const isTotal = kill % 10 === 9;
    const killed = isTotal ? nodes : [nodes[kill % 3] as FaultNode];
    await Promise.all(killed.map((node) => node.setFaults([{ kind: "down" }])));
    const killedAtMs = performance.now();
    for (let n = 0; n < 2; n++) await chain.emit(emitted++);
    if (isTotal) expect((await client.call("eth_gasPrice")).error?.code).toBe(-32_002);
    else await client.notified(2 * emitted);
    await Promise.all(killed.map((node) => node.setFaults([])));
    await chain.emit(emitted++);
    await client.notified(2 * emitted);
    slowestMs = Math.max(slowestMs, performance.now() - killedAtMs);
  }
  const received = resultsOf(client);
  expect(received).toEqual(await chain.logs(from));
  expect(new Set(received.map(place)).size).toBe(2 * 150);
  // All nodes away and back included.
  expect(slowestMs).toBeLessThan(4_000);
}, 60_000);

test("nodes that lag, fail, stall and cut answers short: no log missing, none twice", async () => {
  const client = await socket();
  await client.result("eth_subscribe", ["logs", { address: EMITTER, topics: [word(2)] }]);
  const from = (await chain.head()) + 1;
  const [lagging, failing, slow] = nodes as [FaultNode, FaultNode, FaultNode];
  await lagging.setFaults([{ kind: "lag", blocks: 3 }], 1);
  await failing.setFaults(
    [
      { kind: "status", status: 500, probability: 0.2 },
      { kind: "truncate", probability: 0.1 },
      { kind: "garbage", probability: 0.1 },
    ],
    2,
  );
  await slow.setFaults([{ kind: "delay", ms: 5, jitterMs: 40 }], 3);
  const LOGS = 150;
  for (let n = 0; n < LOGS; n++) await chain.emit(n);
  await client.notified(LOGS);
  const expected = (await chain.logs(from)).filter(
    ({ topics }) => (topics as string[])[0] === word(2),
  );
  expect(resultsOf(client)).toEqual(expected);
}, 60_000);

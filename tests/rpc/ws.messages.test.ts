import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { hang, registryOf, rpcError, startNode, type TestNode } from "../upstream/node.ts";
import { type Proxy, startProxy } from "./app.ts";
import { openSocket, type SocketClient } from "./socket.ts";

let node: TestNode;
let proxy: Proxy;
let socket: SocketClient;

beforeAll(async () => {
  node = startNode();
  proxy = await startProxy(registryOf([node.url]));
  socket = await openSocket(proxy);
});
beforeEach(() => node.behave(({ params }) => params[0] ?? "0x5"));
afterAll(async () => {
  await socket.close();
  await proxy.stop();
  await node.kill();
});

const request = (id: string, rest = '"method":"eth_call","params":[]') =>
  `{"jsonrpc":"2.0",${rest},"id":${id}}`;

/** Messages whose answers over HTTP the tests beside this one fix. */
const messages = [
  ...["1", "0", "-1", "9007199254740993", "10000000000000000000"].map((id) => request(id)),
  ...['""', '"abc"', '"\\u00e9\\"\\\\ \\ud83d\\ude00"', '"é😀"', '"},\\"id\\":2"'].map((id) =>
    request(id),
  ),
  ...["null", "1.5", "1.0", "1e3", "true", "{}"].map((id) => request(id)),
  "",
  "{",
  "1",
  '"eth_call"',
  "true",
  "null",
  "[]",
  " [ \n] ",
  "[1]",
  `${request("1")}${request("2")}`,
  '{"jsonrpc":"2.0","method":"eth_call","params":[]}',
  '{"method":"eth_call","params":[],"id":5}',
  '{"jsonrpc":"1.0","method":"eth_call","params":[],"id":5}',
  request("5", '"method":1'),
  request('"x"', '"method":"eth_call","params":{}'),
  request("3", '"method":"eth_accounts"'),
  request("3", '"method":"\\u0065vm_mine"'),
  request("3", '"method":"eth_newFilter"'),
  request("12345678901234567890", '"method":"eth_call","params":[12345678901234567890]'),
  `\ufeff \n${request("7")} \n`,
  `[${request("1")}]`,
  `[1,${request("2")},{"id":3},[],{},${request("1")},${request('"x"', '"method":"eth_sign"')}]`,
  `[${Array(101).fill(request("1")).join(",")}]`,
];

test.each(messages)("%p is answered as over HTTP", async (message) => {
  const { text } = await proxy.post(message);
  expect(await socket.exchange(message)).toBe(text);
});

describe("a node's answer is passed on as it came", () => {
  test.each([
    '{"jsonrpc":"2.0","id":ID,"result":{"b":1.0,"a":1e3,"z":12345678901234567890}}',
    '{ "result" : [ ] ,\n "id" : ID , "jsonrpc" : "2.0" }',
    '{"jsonrpc":"2.0","id":ID,"error":{"code":3,"message":"execution reverted","data":"0x08c379a0"}}',
    '{"jsonrpc":"2.0","id":ID,"result":null,"extra":"\\u00e9"}',
  ])("%s", async (template) => {
    node.behave(({ id }) => new Response(template.replace("ID", String(id))));
    expect(await socket.exchange(request('"mine"'))).toBe(template.replace("ID", '"mine"'));
  });

  test("also when it is large", async () => {
    const data = `0x${"ab".repeat(5_000_000)}`;
    node.behave(() => data);
    const text = await socket.exchange(request("1"));
    expect(text).toBe(`{"jsonrpc":"2.0","id":1,"result":"${data}"}`);
  });
});

test("a binary message is read like a text message and answered with text", async () => {
  const bytes = new TextEncoder().encode(request("10000000000000000000"));
  expect(await socket.exchange(bytes)).toBe(
    '{"jsonrpc":"2.0","id":10000000000000000000,"result":"0x5"}',
  );
});

test("a slow request keeps no other from its answer", async () => {
  const slow = Promise.withResolvers<string>();
  node.behave(({ params }) => (params[0] === "slow" ? slow.promise : "fast"));
  const order: unknown[] = [];
  const first = socket.call("eth_call", ["slow"]).then(({ result }) => order.push(result));
  await socket.call("eth_call", ["now"]).then(({ result }) => order.push(result));
  slow.resolve("slow");
  await first;
  expect(order).toEqual(["fast", "slow"]);
});

test("no node reachable: an error clients do not repeat, uncharged, and the socket stays", async () => {
  node.behave((call) => rpcError(call, { code: -32603, message: "out of order" }, 500));
  const before = await charged();
  node.behave(() => new Response("<html>", { status: 502 }));
  expect(await socket.exchange(request('"a"'))).toBe(
    '{"jsonrpc":"2.0","id":"a","error":{"code":-32002,"message":"Failed to reach upstream RPC endpoint"}}',
  );
  expect(await charged()).toEqual(before);
});

test("who closes the socket ends its requests at the node", async () => {
  const other = await openSocket(proxy);
  const ended = Promise.withResolvers<number>();
  const begun = Promise.withResolvers<void>();
  node.behave(async (call, http) => {
    begun.resolve();
    const answer = await hang(call, http);
    ended.resolve(performance.now());
    return answer;
  });
  void other.call("eth_call");
  await begun.promise;
  const before = await charged();
  const leftAtMs = performance.now();
  await other.close();
  expect((await ended.promise) - leftAtMs).toBeLessThan(200);
  expect(await charged()).toEqual(before);
});

/** What the ledger has of the key. */
async function charged() {
  const [sum] = await proxy.access.meter.usage(proxy.keyId, 0, Date.now() + 3_600_000);
  return { requests: sum?.requests ?? 0, cu: sum?.cu ?? 0, chainId: sum?.chainId };
}

describe("counting", () => {
  test("every answer is charged before it comes, batches per item, refused bodies not", async () => {
    const before = await charged();
    await socket.result("eth_call");
    expect((await charged()).cu).toBe(before.cu + 1);
    await socket.exchange(`[${Array(100).fill(request("1")).join(",")}]`);
    expect((await charged()).cu).toBe(before.cu + 101);
    await socket.exchange("{");
    await socket.exchange(request("1.5"));
    expect(await charged()).toEqual({
      requests: before.requests + 101,
      cu: before.cu + 101,
      chainId: 1,
    });
  });

  test("what is over the window is refused item by item, with the time to wait", async () => {
    const small = await startProxy(registryOf([node.url]), { windowLimit: 5 });
    const client = await openSocket(small);
    const reached = node.calls().length;
    const batch = JSON.parse(
      await client.exchange(`[${Array.from({ length: 5 }, (_, id) => request(String(id)))}]`),
    );
    for (const [id, answer] of batch.entries()) {
      expect(answer).toEqual({
        jsonrpc: "2.0",
        id,
        error: {
          code: -32_005,
          message: "Rate limit exceeded",
          data: { retryAfterSeconds: expect.any(Number) },
        },
      });
      expect(answer.error.data.retryAfterSeconds).toBeGreaterThanOrEqual(1);
      expect(answer.error.data.retryAfterSeconds).toBeLessThanOrEqual(60);
    }
    expect(node.calls().length).toBe(reached);
    // The upgrade took one of five.
    for (let n = 0; n < 4; n++) expect((await client.call("eth_call")).result).toBe("0x5");
    expect((await client.call("eth_call")).error?.code).toBe(-32_005);
    expect((await small.post(request("1"))).status).toBe(429);
    await client.close();
    await small.stop();
  });

  test("the allowance holds under concurrency, and is said to be used up", async () => {
    const small = await startProxy(registryOf([node.url]), { cuAllowance: 10 });
    const client = await openSocket(small);
    const answers = await Promise.all(Array.from({ length: 40 }, () => client.call("eth_call")));
    expect(answers.filter(({ result }) => result === "0x5")).toHaveLength(10);
    expect(answers.filter(({ error }) => error?.code === -32_005)).toHaveLength(30);
    const [sum] = await small.access.meter.usage(small.keyId, 0, Date.now() + 3_600_000);
    expect(sum?.cu).toBe(10);
    await client.close();
    await small.stop();
  });

  test("requests in flight are bounded, and the places come back", async () => {
    const small = await startProxy(registryOf([node.url]), {}, { maxInFlight: 3 });
    const client = await openSocket(small);
    const release = Promise.withResolvers<string>();
    node.behave(() => release.promise);
    const held = [client.call("eth_call"), client.call("eth_call"), client.call("eth_call")];
    expect((await client.call("eth_call")).error).toMatchObject({ code: -32_005 });
    release.resolve("0x1");
    for (const answer of held) expect((await answer).result).toBe("0x1");
    expect((await client.call("eth_call")).result).toBe("0x1");
    await client.close();
    await small.stop();
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { registryOf, startNode, type TestNode } from "../upstream/node.ts";
import { type Proxy, startProxy } from "./app.ts";

let node: TestNode;
let proxy: Proxy;

beforeAll(async () => {
  node = startNode();
  proxy = await startProxy(registryOf([node.url]));
});
beforeEach(() => node.behave(({ params }) => params[0] ?? "0x5"));
afterAll(async () => {
  await proxy.stop();
  await node.kill();
});

const item = (id: string, param = id) =>
  `{"jsonrpc":"2.0","method":"eth_call","params":[${param}],"id":${id}}`;

test("every item is answered in order with its own id", async () => {
  node.behave(async ({ params }) => {
    await Bun.sleep(20 - Number(params[0]));
    return params[0];
  });
  const ids = Array.from({ length: 20 }, (_, index) => index);
  const { status, text } = await proxy.post(`\n [${ids.map((id) => item(String(id)))}]`);
  expect(status).toBe(200);
  expect(JSON.parse(text)).toEqual(ids.map((id) => ({ jsonrpc: "2.0", id, result: id })));
});

test("equal ids, large ids and strings keep their text", async () => {
  const { text } = await proxy.post(`[${item("1", "10")},${item("1", "11")},${item('"x"')}]`);
  expect(text).toBe(
    '[{"jsonrpc":"2.0","id":1,"result":10},{"jsonrpc":"2.0","id":1,"result":11},' +
      '{"jsonrpc":"2.0","id":"x","result":"x"}]',
  );
});

test("invalid members are answered one by one", async () => {
  const { status, text } = await proxy.post(`[1,${item("2")},{"id":3},[],{}]`);
  const invalid = { code: -32_600, message: "Invalid Request" };
  expect(status).toBe(200);
  expect(JSON.parse(text)).toEqual([
    { jsonrpc: "2.0", id: null, error: invalid },
    { jsonrpc: "2.0", id: 2, result: 2 },
    { jsonrpc: "2.0", id: 3, error: invalid },
    { jsonrpc: "2.0", id: null, error: invalid },
    { jsonrpc: "2.0", id: null, error: invalid },
  ]);
});

test("a batch of one is answered with an array", async () => {
  const { text } = await proxy.post(`[${item("1")}]`);
  expect(text).toBe('[{"jsonrpc":"2.0","id":1,"result":1}]');
});

describe("counting", () => {
  test("every item is charged and counted", async () => {
    const { headers } = await proxy.post(`[${Array(100).fill(item("1")).join(",")}]`);
    expect(headers.get("x-cu-cost")).toBe("100");
    const before = Number(headers.get("x-ratelimit-remaining"));
    const next = await proxy.post(`[${item("1")},${item("2")},${item("3")}]`);
    expect(before - Number(next.headers.get("x-ratelimit-remaining"))).toBe(3);
  });

  test("a batch that does not fit the window is refused whole", async () => {
    const small = await startProxy(registryOf([node.url]), { windowLimit: 5 });
    const before = node.calls().length;
    const { status, headers } = await small.post(`[${Array(6).fill(item("1")).join(",")}]`);
    expect(status).toBe(429);
    expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(node.calls().length).toBe(before);
    await small.stop();
  });
});

test("a failing item leaves the others alone", async () => {
  node.behave(({ params }) =>
    params[0] === 2 ? new Response("<html>", { status: 502 }) : params[0],
  );
  const { text } = await proxy.post(`[${item("1")},${item("2")},${item("3")}]`);
  expect(JSON.parse(text)).toMatchObject([
    { id: 1, result: 1 },
    { id: 2, error: { code: -32_002 } },
    { id: 3, result: 3 },
  ]);
});

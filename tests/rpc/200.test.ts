import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { registryOf, rpcError, startNode, type TestNode } from "../upstream/node.ts";
import { type Proxy, startProxy } from "./app.ts";

let node: TestNode;
let proxy: Proxy;

beforeAll(async () => {
  node = startNode();
  proxy = await startProxy(registryOf([node.url]));
});
beforeEach(() => {
  node.behaveAlways(undefined);
  node.behave(() => "0x5");
});
afterAll(async () => {
  await proxy.stop();
  await node.kill();
});

const request = (id: string, rest = '"method":"eth_call","params":[]') =>
  `{"jsonrpc":"2.0",${rest},"id":${id}}`;

describe("ids come back byte for byte", () => {
  test.each([
    "1",
    "0",
    "-1",
    "9007199254740993",
    "10000000000000000000",
    "-170141183460469231731687303715884105728",
    '""',
    '"abc"',
    '"1"',
    '"\\u00e9\\"\\\\ \\ud83d\\ude00"',
    '"é😀"',
    '"},\\"id\\":2"',
  ])("%s", async (id) => {
    const { status, text } = await proxy.post(request(id));
    expect([status, text]).toEqual([200, `{"jsonrpc":"2.0","id":${id},"result":"0x5"}`]);
  });
});

describe("the node's answer is passed on as it came", () => {
  test.each([
    '{"jsonrpc":"2.0","id":ID,"result":{"b":1.0,"a":1e3,"z":12345678901234567890}}',
    '{ "result" : [ ] ,\n "id" : ID , "jsonrpc" : "2.0" }',
    '{"jsonrpc":"2.0","result":{"id":99,"error":"x"},"id":ID}',
    '{"jsonrpc":"2.0","id":ID,"error":{"code":3,"message":"execution reverted","data":"0x08c379a0"}}',
    '{"jsonrpc":"2.0","id":ID,"result":null,"extra":"\\u00e9"}',
  ])("%s", async (template) => {
    node.behave(({ id }) => new Response(template.replace("ID", String(id))));
    const { status, text } = await proxy.post(request('"mine"'));
    expect([status, text]).toEqual([200, template.replace("ID", '"mine"')]);
  });

  test("an id the node left out is added", async () => {
    node.behave(() => new Response('{"jsonrpc":"2.0","result":"0x1"}'));
    const { text } = await proxy.post(request("7"));
    expect(JSON.parse(text)).toEqual({ jsonrpc: "2.0", id: 7, result: "0x1" });
  });

  test("a compressed answer arrives whole and uncompressed", async () => {
    node.behave(({ id }) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id, result: "0x".padEnd(50_000, "ab") });
      return new Response(Bun.gzipSync(body), { headers: { "content-encoding": "gzip" } });
    });
    const { text, headers } = await proxy.post(request("7"));
    expect(headers.get("content-encoding")).toBeNull();
    expect(JSON.parse(text).result).toHaveLength(50_000);
  });
});

describe("what the node is sent", () => {
  test("params keep their text, also beyond what a number holds", async () => {
    const params = '[ {"value":12345678901234567890, "s":"\\u00e9"} , 1.0 ]';
    let seen = "";
    node.behaveAlways(undefined);
    const raw = Bun.serve({
      port: 0,
      async fetch(http) {
        const text = await http.text();
        const { id, method } = JSON.parse(text);
        if (method === "eth_call") seen = text;
        return Response.json({ jsonrpc: "2.0", id, result: "0x1" });
      },
    });
    const other = await startProxy(registryOf([raw.url.href]));
    const { text } = await other.post(request("1", `"method":"eth_call","params":${params}`));
    expect(JSON.parse(text)).toEqual({ jsonrpc: "2.0", id: 1, result: "0x1" });
    expect(seen).toContain(`"params":${params}`);
    await other.stop();
    await raw.stop(true);
  });

  test("left-out params become an empty array", async () => {
    await proxy.post(request("1", '"method":"eth_gasPrice"'));
    expect(node.calls().at(-1)).toMatchObject({ method: "eth_gasPrice", params: [] });
  });
});

test("the chain may be named", async () => {
  expect((await proxy.post(request("1"), "Test")).status).toBe(200);
  expect((await proxy.post(request("1"), "tEsT")).status).toBe(200);
});

test("headers tell the cost and the attempts, and nothing tells a node's URL", async () => {
  node.behave((call) => rpcError(call, { code: 3, message: "execution reverted" }));
  const { headers, text } = await proxy.post(request("1"));
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.get("x-upstream-attempts")).toBe("1");
  expect(headers.get("x-cu-cost")).toBe("1");
  expect(text + JSON.stringify([...headers])).not.toContain("key-in-path");
});

const sourceOf = async (body: string) => (await proxy.post(body)).headers.get("x-upstream-source");

test("headers tell where the answer came from, and each distinct place of a batch", async () => {
  const chainId = request("1", '"method":"eth_chainId"');
  const price = request("2", '"method":"eth_gasPrice"');
  node.behave(() => "0x5");
  expect(await sourceOf(price)).toBe("upstream");
  expect(await sourceOf(chainId)).toBe("local");
  expect(await sourceOf(`[${price},${chainId},${chainId}]`)).toBe("local, upstream");
});

describe("methods that act with a node's keys or keep state on it", () => {
  test.each([
    "eth_accounts",
    "eth_sendTransaction",
    "eth_signTypedData_v4",
    "personal_unlockAccount",
    "admin_peers",
    "miner_start",
    "engine_newPayloadV4",
    "debug_setHead",
    "anvil_setBalance",
    "hardhat_impersonateAccount",
    "evm_mine",
    "eth_newFilter",
    "eth_subscribe",
  ])("%s answers -32601 and reaches no node", async (method) => {
    const before = node.requests.length;
    const { status, text } = await proxy.post(request("3", `"method":"${method}","params":[]`));
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ id: 3, error: { code: -32_601 } });
    expect(node.requests.slice(before).map((call) => call.method)).not.toContain(method);
  });

  test("names written with escapes are the same names", async () => {
    const { text } = await proxy.post(request("3", '"method":"\\u0065vm_mine","params":[]'));
    expect(JSON.parse(text).error.code).toBe(-32_601);
  });

  test("ordinary debug and trace methods pass", async () => {
    const { text } = await proxy.post(request("3", '"method":"debug_traceTransaction"'));
    expect(JSON.parse(text).result).toBe("0x5");
  });
});

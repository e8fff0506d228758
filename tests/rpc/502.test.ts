import { afterAll, beforeAll, expect, test } from "bun:test";
import { registryOf, startNode, type TestNode } from "../upstream/node.ts";
import { type Proxy, startProxy } from "./app.ts";

let node: TestNode;
let proxy: Proxy;
const request = (id: number, method = "eth_call") =>
  JSON.stringify({ jsonrpc: "2.0", method, params: [], id });

beforeAll(async () => {
  node = startNode();
  await node.kill();
  proxy = await startProxy(registryOf([node.url]));
});
afterAll(() => proxy.stop());

test("no node reachable: the envelope of the contract, uncharged", async () => {
  const { status, text, headers } = await proxy.post(request(1));
  expect(status).toBe(502);
  expect(text).toBe('{"success":false,"error":"Failed to reach upstream RPC endpoint"}');
  expect(headers.get("x-error-code")).toBe("UPSTREAM_UNREACHABLE");
  expect(headers.get("x-cu-cost")).toBe("0");
});

test("in a batch, items answer for themselves with a code clients do not repeat", async () => {
  const { status, text } = await proxy.post(`[${request(1)},${request(2, "eth_accounts")}]`);
  expect(status).toBe(200);
  expect(JSON.parse(text)).toMatchObject([
    { id: 1, error: { code: -32_002, message: "Failed to reach upstream RPC endpoint" } },
    { id: 2, error: { code: -32_601 } },
  ]);
});

test("answers again as soon as the node is back", async () => {
  node.revive();
  const deadlineMs = performance.now() + 2_000;
  let status = 502;
  while (status !== 200 && performance.now() < deadlineMs) {
    ({ status } = await proxy.post(request(1)));
  }
  expect(status).toBe(200);
  await node.kill();
});

test("a chain without nodes", async () => {
  const bare = await startProxy(registryOf([]));
  expect((await bare.post(request(1))).status).toBe(502);
  await bare.stop();
});

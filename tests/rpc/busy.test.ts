import { afterAll, beforeAll, expect, test } from "bun:test";
import { registryOf, startNode, type TestNode } from "../upstream/node.ts";
import { type Proxy, startProxy } from "./app.ts";

let node: TestNode;
let proxy: Proxy;

beforeAll(async () => {
  node = startNode();
  proxy = await startProxy(registryOf([node.url]));
});
afterAll(async () => {
  await proxy.stop();
  await node.kill();
});

const post = (id: number) =>
  proxy.post(`{"jsonrpc":"2.0","method":"eth_call","params":["${id}"],"id":${id}}`);

test("while the only node refuses for pace beyond the deadline, callers are told when to come back", async () => {
  expect((await post(1)).status).toBe(200);
  node.behave(() => new Response("", { status: 429, headers: { "retry-after": "120" } }));
  for (const id of [2, 3, 4]) {
    const answer = await post(id);
    expect(answer.status).toBe(502);
    expect(answer.headers.get("x-error-code")).toBe("UPSTREAM_UNREACHABLE");
    expect(Number(answer.headers.get("retry-after"))).toBeWithin(100, 121);
  }
  // One was refused; the others were not sent.
  expect(node.calls()).toHaveLength(2);
});

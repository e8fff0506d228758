import { afterAll, beforeAll, expect, test } from "bun:test";
import { hang, registryOf, startNode, type TestNode } from "../upstream/node.ts";
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

/** Sends a request that the node holds, leaves, and resolves when the node was told. */
async function leave(method: string, onBegun: () => void, onEnded: () => void): Promise<void> {
  const leaving = new AbortController();
  node.behave(async (request, http) => {
    onBegun();
    leaving.abort();
    const answer = await hang(request, http);
    onEnded();
    return answer;
  });
  const body = JSON.stringify({ jsonrpc: "2.0", method, params: [], id: 1 });
  const init = { method: "POST", headers: { "x-api-key": proxy.secret }, body };
  await fetch(proxy.url(), { ...init, signal: leaving.signal }).catch(() => {});
}

test("a caller who hangs up ends the request at the node", async () => {
  const ended = Promise.withResolvers<void>();
  let begunAtMs = 0;
  await leave("eth_call", () => (begunAtMs = performance.now()), ended.resolve);
  await ended.promise;
  expect(performance.now() - begunAtMs).toBeLessThan(50);
});

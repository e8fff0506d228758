import { afterEach, beforeEach, expect, test } from "bun:test";
import { type Proxy, startProxy } from "../rpc/app.ts";
import { registryOf, startNode, type TestNode } from "../upstream/node.ts";
import { openClient, rpcCall, rpcRequest } from "./client.ts";

let node: TestNode;
let proxy: Proxy;

beforeEach(async () => {
  node = startNode();
  proxy = await startProxy(registryOf([node.url]));
});
afterEach(async () => {
  await proxy.stop();
  await node.kill();
});

test("a stop ends idle connections, finishes calls under way, and takes no others", async () => {
  const { port } = proxy.front;
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<string>();
  node.behave(() => {
    begun.resolve();
    return end.promise;
  });
  const [idle, fresh, busy] = await Promise.all([1, 2, 3].map(() => openClient(port)));
  idle?.send(rpcRequest("", rpcCall(1)));
  await idle?.next();
  busy?.send(rpcRequest(proxy.secret, rpcCall(2)));
  await begun.promise;
  expect(proxy.front.inFlight).toBe(1);

  const stopped = proxy.front.stop();
  await Promise.all([idle?.closed, fresh?.closed]);
  await expect(openClient(port)).rejects.toThrow();
  end.resolve("0x7");
  const answer = await busy?.next();
  expect(JSON.parse(answer?.body ?? "").result).toBe("0x7");
  expect(answer?.headers.get("connection")).toBe("close");
  await busy?.closed;
  await stopped;
});

test("a forced stop ends what is under way", async () => {
  const begun = Promise.withResolvers<void>();
  node.behave(() => {
    begun.resolve();
    return new Promise(() => {});
  });
  const client = await openClient(proxy.front.port);
  client.send(rpcRequest(proxy.secret, rpcCall(1)));
  await begun.promise;
  await proxy.front.stop(true);
  expect(await client.closed).toEqual([]);
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryDirectory } from "../access/support.ts";
import { type Proxy, startProxy } from "../rpc/app.ts";
import { certificate, privateKey } from "../upstream/http/certificate.ts";
import { registryOf, startNode, type TestNode } from "../upstream/node.ts";
import { openClient, rpcCall } from "./client.ts";

const SIZE = 5_000_000;

let node: TestNode;
let proxy: Proxy;
const directory = temporaryDirectory();

beforeAll(async () => {
  node = startNode();
  const tls = {
    certFile: join(directory.path, "certificate.pem"),
    keyFile: join(directory.path, "key.pem"),
  };
  await Bun.write(tls.certFile, certificate);
  await Bun.write(tls.keyFile, privateKey);
  proxy = await startProxy(registryOf([node.url]), {}, {}, tls);
});
afterAll(async () => {
  await proxy.stop();
  await node.kill();
  directory[Symbol.dispose]();
});

const ask = (path: string, init: RequestInit = {}) =>
  fetch(new URL(path, proxy.front.url), {
    ...init,
    headers: { "x-api-key": proxy.secret },
    tls: { ca: certificate },
  });

test("over TLS, calls, requests of the framework and handed-on ones are answered", async () => {
  const call = await ask("/api/public/rpc/1", { method: "POST", body: rpcCall(3) });
  expect(await call.json()).toEqual({ jsonrpc: "2.0", id: 3, result: "0x5" });
  expect((await ask("/api/public/nothing")).headers.get("x-error-code")).toBe("ROUTE_NOT_FOUND");
  expect((await ask("/nothing")).headers.get("x-error-code")).toBe("ROUTE_NOT_FOUND");
});

test("over TLS, a large answer and a large body arrive whole", async () => {
  const long = "ab".repeat(500_000);
  node.behave(() => "c".repeat(SIZE));
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_call", params: [long] });
  const answer = (await (await ask("/api/public/rpc/1", { method: "POST", body })).json()) as {
    result: string;
  };
  expect(answer.result).toBe("c".repeat(SIZE));
  expect(node.calls().at(-1)?.params).toEqual([long]);
});

test("over TLS, those who do not speak it are hung up on, and disturb nobody", async () => {
  const plain = await openClient(proxy.front.port);
  plain.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  expect(await plain.closed).toEqual([]);
  const silent = await openClient(proxy.front.port);
  silent.terminate();
  expect((await ask("/api/public/nothing")).status).toBe(404);
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Proxy, startProxy } from "../rpc/app.ts";
import { hang, registryOf, startNode, type TestNode } from "../upstream/node.ts";
import { openClient, rpcCall, rpcRequest } from "./client.ts";

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

const client = () => openClient(proxy.front.port);
const request = (id: number, fields: readonly string[] = []) =>
  rpcRequest(proxy.secret, rpcCall(id), fields);
const idOf = ({ body }: { body: string }) => JSON.parse(body).id;

test("a request is answered wherever it is cut in two", async () => {
  const one = await client();
  const text = request(7);
  for (let at = 1; at < text.length; at++) {
    one.send(text.slice(0, at));
    await new Promise(setImmediate);
    one.send(text.slice(at));
    const answer = await one.next();
    expect([at, answer.status, idOf(answer)]).toEqual([at, 200, 7]);
  }
});

test("requests sent without waiting are answered in order, however they are cut", async () => {
  const ids = Array.from({ length: 40 }, (_, index) => index);
  const text = ids.map((id) => request(id)).join("");
  for (const size of [text.length, 1_000, 97]) {
    const one = await client();
    for (let at = 0; at < text.length; at += size) {
      one.send(text.slice(at, at + size));
      await new Promise(setImmediate);
    }
    for (const id of ids) expect(idOf(await one.next())).toBe(id);
    one.terminate();
  }
});

test("more than waits for an answer is held back, and answered in its turn", async () => {
  const one = await client();
  const ids = Array.from({ length: 2_000 }, (_, index) => index);
  one.send(ids.map((id) => request(id)).join(""));
  for (const id of ids) expect(idOf(await one.next())).toBe(id);
});

test("a body of 1 MiB in pieces reaches the node whole", async () => {
  const one = await client();
  const long = "ab".repeat(500_000);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_call", params: [long] });
  const text = rpcRequest(proxy.secret, body);
  for (let at = 0; at < text.length; at += 30_011) {
    one.send(text.slice(at, at + 30_011));
    await new Promise(setImmediate);
  }
  expect((await one.next()).status).toBe(200);
  expect(node.calls().at(-1)?.params).toEqual([long]);
});

describe("the connection goes on after", () => {
  const large = 2_000_000;
  test.each([
    ["a key that is none", 401, () => rpcRequest("sk_test_0", rpcCall(1))],
    ["a body that is no request", 400, () => rpcRequest(proxy.secret, "[]")],
    ["an empty body", 400, () => rpcRequest(proxy.secret, "")],
    ["a body that is too large", 413, () => rpcRequest(proxy.secret, "x".repeat(large))],
    ["a large body without a key", 401, () => rpcRequest("", "x".repeat(large))],
  ])("%s", async (_, status, text) => {
    const one = await client();
    one.send(text() + request(5));
    expect((await one.next()).status).toBe(status);
    expect(idOf(await one.next())).toBe(5);
  });
});

test("a refused request is answered before its body comes", async () => {
  const one = await client();
  const text = rpcRequest("sk_test_0", rpcCall(1));
  one.send(text.slice(0, -10));
  expect((await one.next()).status).toBe(401);
  one.send(text.slice(-10) + request(2));
  expect(idOf(await one.next())).toBe(2);
});

test("a client that asks for it is hung up on behind the answer", async () => {
  const one = await client();
  one.send(request(1, ["Connection: close"]) + request(2));
  expect((await one.next()).headers.get("connection")).toBe("close");
  expect(await one.closed).toEqual([]);
});

test("a connection that asks for something else is handed on, with all that follows", async () => {
  const one = await client();
  one.send(`${request(1)}GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n${request(2)}`);
  expect(idOf(await one.next())).toBe(1);
  expect((await one.next()).status).toBe(404);
  expect(idOf(await one.next())).toBe(2);
  one.send(request(3));
  expect(idOf(await one.next())).toBe(3);
});

describe("a client that leaves ends the request at the node", () => {
  test.each([
    ["end", ""],
    ["terminate", ""],
    ["end", "/"],
    ["terminate", "/"],
  ] as const)("by %s, at the path with '%s' behind it", async (how, slash) => {
    const one = await client();
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    node.behave(async (call, http) => {
      begun.resolve();
      const answer = await hang(call, http);
      ended.resolve();
      return answer;
    });
    const before = await proxy.access.meter.monthCu(proxy.keyId);
    one.send(request(1).replace("/rpc/1", `/rpc/1${slash}`));
    await begun.promise;
    one[how]();
    await ended.promise;
    node.behave(() => "0x5");
    expect(await proxy.access.meter.monthCu(proxy.keyId)).toBe(before);
  });
});

test("while the service drains, each answer closes its connection", async () => {
  const one = await client();
  proxy.access.isDraining = true;
  one.send(request(1));
  expect((await one.next()).headers.get("connection")).toBe("close");
  await one.closed;
  proxy.access.isDraining = false;
});

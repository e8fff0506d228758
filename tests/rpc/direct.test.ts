import { afterAll, beforeAll, describe, expect, test } from "bun:test";
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

const call = '{"jsonrpc":"2.0","method":"eth_call","params":[],"id":"é-1"}';
const key = () => ({ "x-api-key": proxy.secret });

/** Requests to the path as it is documented, and to the same with a slash behind it. */
const requests: [
  name: string,
  chain: string,
  body: string,
  headers: () => Record<string, string>,
][] = [
  ["a call", "1", call, key],
  ["a call by the network's name", "test", call, key],
  ["a batch", "1", `[${call},${call}]`, key],
  ["a key in Authorization", "1", call, () => ({ authorization: `Bearer ${proxy.secret}` })],
  ["no key", "1", call, () => ({})],
  ["a wrong key", "1", call, () => ({ "x-api-key": "sk_test_0" })],
  ["two keys that differ", "1", call, () => ({ ...key(), authorization: "Bearer sk_test_0" })],
  ["a body that is no request", "1", "[]", key],
  ["a chain that is not served", "77", call, key],
  ["a chain id with an escape", "%31", call, key],
  ["a body that is too large", "1", `"${"x".repeat(2_000_000)}"`, key],
];

/** Headers that differ from answer to answer. */
const changing = new Set(["x-request-id", "x-ratelimit-remaining", "date", "x-upstream-source"]);

async function ask(path: string, body: string, headers: Record<string, string>) {
  const response = await fetch(proxy.url(path), { method: "POST", headers, body });
  const fixed = [...response.headers].filter(([name]) => !changing.has(name));
  const names = [...response.headers.keys()].sort();
  return { status: response.status, names, fixed, text: await response.text() };
}

describe("the listener's route and the framework's give the same answer to", () => {
  test.each(requests)("%s", async (_, chain, body, headers) => {
    const direct = await ask(chain, body, headers());
    const framed = await ask(`${chain}/`, body, headers());
    expect(direct).toEqual(framed);
  });
});

test("both charge alike", async () => {
  const before = await proxy.access.meter.monthCu(proxy.keyId);
  await ask("1", call, key());
  await ask("1/", call, key());
  await ask("1", "[]", key());
  expect(await proxy.access.meter.monthCu(proxy.keyId)).toBe(before + 2);
});

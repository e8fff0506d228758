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

const invalid = (id: string) =>
  `{"jsonrpc":"2.0","id":${id},"error":{"code":-32600,"message":"Invalid Request"}}`;
const valid = '{"jsonrpc":"2.0","method":"eth_call","params":[],"id":5}';

describe("structure", () => {
  test.each([
    ["nothing", "", "null"],
    ["no JSON", "{", "null"],
    ["a number", "1", "null"],
    ["a string", '"eth_call"', "null"],
    ["two objects", `${valid}${valid}`, "null"],
    ["an empty array", "[]", "null"],
    ["an array of white space", " [ \n] ", "null"],
    ["a missing id", '{"jsonrpc":"2.0","method":"eth_call","params":[]}', "null"],
    ["a null id", '{"jsonrpc":"2.0","method":"eth_call","params":[],"id":null}', "null"],
    ["a fractional id", '{"jsonrpc":"2.0","method":"eth_call","params":[],"id":1.5}', "null"],
    ["an id with a point", '{"jsonrpc":"2.0","method":"eth_call","params":[],"id":1.0}', "null"],
    [
      "an id with an exponent",
      '{"jsonrpc":"2.0","method":"eth_call","params":[],"id":1e3}',
      "null",
    ],
    ["a boolean id", '{"jsonrpc":"2.0","method":"eth_call","params":[],"id":true}', "null"],
    ["an object id", '{"jsonrpc":"2.0","method":"eth_call","params":[],"id":{}}', "null"],
    ["no version", '{"method":"eth_call","params":[],"id":5}', "5"],
    ["another version", '{"jsonrpc":"1.0","method":"eth_call","params":[],"id":5}', "5"],
    ["a numeric version", '{"jsonrpc":2.0,"method":"eth_call","params":[],"id":5}', "5"],
    ["no method", '{"jsonrpc":"2.0","params":[],"id":5}', "5"],
    ["an empty method", '{"jsonrpc":"2.0","method":"","params":[],"id":5}', "5"],
    ["a numeric method", '{"jsonrpc":"2.0","method":1,"params":[],"id":5}', "5"],
    ["params as an object", '{"jsonrpc":"2.0","method":"eth_call","params":{},"id":"x"}', '"x"'],
    ["params as null", '{"jsonrpc":"2.0","method":"eth_call","params":null,"id":5}', "5"],
    [
      "a large id",
      '{"jsonrpc":"2.0","params":[],"id":12345678901234567890}',
      "12345678901234567890",
    ],
  ])("%s", async (_, body, id) => {
    const { status, text, headers } = await proxy.post(body);
    expect([status, text]).toEqual([400, invalid(id)]);
    expect(headers.get("x-error-code")).toBe("INVALID_RPC_REQUEST");
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("x-cu-cost")).toBe("0");
  });

  test("more items than allowed", async () => {
    const { status, text } = await proxy.post(`[${Array(101).fill(valid).join(",")}]`);
    expect([status, text]).toEqual([400, invalid("null")]);
  });
});

test.each(["999999", "nowhere", "0x1", "-1", "01", "1.0", "%20", "1%2F2"])(
  "unknown chain %s: the id comes back",
  async (chain) => {
    const { status, text } = await proxy.post(valid, chain);
    expect([status, text]).toEqual([400, invalid("5")]);
  },
);

test("413 is a JSON-RPC error, which clients do not repeat", async () => {
  const { status, text, headers } = await proxy.post(valid.padEnd(1_048_577, " "));
  expect([status, text]).toEqual([413, invalid("null")]);
  expect(headers.get("x-error-code")).toBe("BODY_TOO_LARGE");
});

test("nothing invalid reaches a node", async () => {
  expect(node.calls()).toEqual([]);
});

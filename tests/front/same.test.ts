import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startLocalService, type LocalService } from "../app/service.ts";
import { openClient } from "./client.ts";
import { startNode, type TestNode } from "../upstream/node.ts";

let node: TestNode;
let service: LocalService;
const keys: Record<string, string> = {};

beforeAll(async () => {
  node = startNode();
  service = await startLocalService([]);
  const grants = {
    good: {},
    "without scopes": { scopes: ["quotes"] },
    "without units": { cuAllowance: 0 },
    "without requests": { windowLimit: 1 },
    elsewhere: { ipAllowList: ["203.0.113.1"] },
    here: { ipAllowList: ["127.0.0.1"] },
  };
  for (const [name, granted] of Object.entries(grants)) {
    keys[name] = (await service.key(granted)).secret;
  }
  await ask(["GET /api/public/usage", "without requests"], false);
});
afterAll(async () => {
  await service.stop();
  await node.kill();
});

const CALL = '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}';
const RPC = "POST /api/public/rpc/5042";

/** Values that differ from answer to answer. */
const changing = new Set([
  "x-request-id",
  "x-ratelimit-reset",
  "date",
  "retry-after",
  "x-ratelimit-remaining",
]);

/** What is asked: a request line without the version, the key's name, fields, and a body. */
type Asked = readonly [
  line: string,
  key: string | undefined,
  body?: string | undefined,
  field?: string,
];

async function ask([line, key, body, field]: Asked, isHandedOn: boolean) {
  const client = await openClient(service.front.port);
  const lines = [
    `${line} HTTP/1.1`,
    "host: api.example",
    ...(key === undefined ? [] : [`x-api-key: ${keys[key] ?? key}`]),
    ...(body === undefined ? [] : [`content-length: ${body.length}`]),
    ...(field ? [field] : []),
    // A field that comes twice is for the other server.
    ...(isHandedOn ? ["x-twice: 1", "x-twice: 1"] : []),
  ];
  client.send(`${lines.join("\r\n")}\r\n\r\n${body ?? ""}`);
  const { status, headers, body: text } = await client.next();
  client.terminate();
  const fixed = [...headers]
    // The runtime's server closes without a word.
    .filter(([name]) => name !== "connection")
    .map(([name, value]) => [name, changing.has(name) ? "" : value]);
  return { status, headers: fixed.sort(), text: text.replace(/"remaining":\d+/, "") };
}

const cases: readonly (readonly [name: string, status: number, ...Asked])[] = [
  ["no request", 400, RPC, "good", "[]"],
  ["a chain that is not served", 400, "POST /api/public/rpc/77", "good", CALL],
  ["no key", 401, RPC, undefined, CALL],
  ["a key that is none", 401, RPC, "sk_test_0", CALL],
  ["a key from elsewhere", 401, RPC, "elsewhere", CALL],
  ["a key without the scope", 403, RPC, "without scopes", CALL],
  ["a body that is too large", 413, RPC, "good", "x".repeat(1_100_000)],
  ["a used-up allowance", 429, RPC, "without units", CALL],
  ["a used-up window", 429, RPC, "without requests", CALL],
  ["a batch above the window", 429, RPC, "without requests", `[${CALL}]`],
  ["no node", 502, RPC, "good", CALL],
  ["a refused method", 200, RPC, "good", CALL.replace("eth_blockNumber", "eth_accounts")],
  ["a batch", 200, RPC, "good", `[${CALL},${CALL}]`],
  ["a key from here", 502, RPC, "here", CALL],
  ["POST: no quote", 400, "POST /api/public/swap/quote", "here", "{}"],
  ["POST: no JSON", 400, "POST /api/public/swap/quote", "here", "{"],
  ["POST: a large body", 413, "POST /api/public/swap/quote", "here", "x".repeat(1_100_000)],
  ["POST: no key", 401, "POST /api/public/swap/quote", undefined, "{}"],
  ["POST: no scope", 403, "POST /api/public/swap/quote", "without scopes", "{}"],
  ["POST: a path of GET", 405, "POST /api/public/prices", "here", "{}"],
  ["POST: an empty body", 400, "POST /api/public/bridge", "here", ""],
  ["GET: venues", 200, "GET /api/public/swap/dexes", "good"],
  ["GET: usage", 200, "GET /api/public/usage?from=2026-01-01", "good"],
  ["GET: usage, wrongly asked for", 400, "GET /api/public/usage?from=x", "good"],
  ["GET: no feeds", 502, "GET /api/public/prices", "good"],
  ["GET: no key", 401, "GET /api/public/swap/dexes", undefined],
  ["GET: a key from elsewhere", 401, "GET /api/public/swap/dexes", "elsewhere"],
  ["GET: a key from here", 200, "GET /api/public/swap/dexes", "here"],
  ["GET: no scope", 403, "GET /api/public/swap/dexes", "without scopes"],
  ["GET: no such path", 404, "GET /api/public/nothing", "good"],
  ["GET: a path of POST", 405, "GET /api/public/swap/quote", "good"],
  ["GET: a socket's path", 405, "GET /api/public/rpc/5042", "good"],
  ["GET: a used-up window", 429, "GET /api/public/swap/dexes", "without requests"],
  ["GET: a used-up allowance", 429, "GET /api/public/swap/dexes", "without units"],
  ["GET: a doubled slash", 404, "GET /api/public//swap/dexes", "good"],
  ["GET: a slash at the end", 200, "GET /api/public/swap/dexes/", "good"],
  ["GET: closing", 200, "GET /api/public/swap/dexes", "good", undefined, "connection: close"],
  ["closing", 502, RPC, "good", CALL, "connection: close"],
];

describe("the front answers as the server behind it", () => {
  test.each(cases.map(([name, status, ...asked]) => ({ name, status, asked })))(
    "$name: $status",
    async ({ status, asked }) => {
      const own = await ask(asked, false);
      const behind = await ask(asked, true);
      expect(own).toEqual(behind);
      expect(own.status).toBe(status);
    },
  );
});

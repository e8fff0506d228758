import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { keccak256 } from "viem";
import { textOf } from "../../src/lib/jsonSpan.ts";
import {
  createUpstreamPool,
  type UpstreamPool,
  UpstreamUnavailableError,
} from "../../src/upstream/index.ts";
import { type Behaviour, hang, registryOf, rpcError, startNode, type TestNode } from "./node.ts";

const raw = "0x02f86c0180843b9aca00" as const;
const hash = keccak256(raw);
let nodes: TestNode[];
let pool: UpstreamPool;

beforeEach(() => {
  nodes = [startNode(), startNode(), startNode()];
  pool = createUpstreamPool({ registry: registryOf(nodes.map(({ url }) => url)) });
});
afterEach(async () => {
  pool.close();
  await Promise.all(nodes.map((node) => node.kill()));
});

async function broadcast(): Promise<{ id?: unknown; result?: unknown; error?: unknown }> {
  const params = JSON.stringify([raw]);
  const reply = await pool.call(1, { method: "eth_sendRawTransaction", params });
  return JSON.parse(textOf(reply.bytes, { start: 0, end: reply.bytes.length }));
}

const says = (code: number, message: string, onLookup: unknown = null): Behaviour => {
  return (request) =>
    request.method === "eth_sendRawTransaction" ? rpcError(request, { code, message }) : onLookup;
};
const all = (behaviour: Behaviour) => {
  for (const node of nodes) node.behave(behaviour);
};
const sentTo = () =>
  nodes.map(
    (node) => node.calls().filter(({ method }) => method === "eth_sendRawTransaction").length,
  );

describe("the transaction is on its way", () => {
  test("when a node takes it; no node is given it twice", async () => {
    all(() => hash);
    expect((await broadcast()).result).toBe(hash);
    expect(Math.max(...sentTo())).toBe(1);
  });

  test.each([
    [-32_000, "already known"],
    [-32_003, "ALREADY_EXISTS: already known"],
    [-32_603, "known transaction: 0xabc"],
    [-32_010, "Transaction with the same hash was already imported."],
  ])("when nodes answer %d %s", async (code, message) => {
    all(says(code, message));
    expect(await broadcast()).toMatchObject({ result: hash });
  });

  test("when the nonce is used by this very transaction", async () => {
    all(says(-32_000, "nonce too low: next nonce 5, tx nonce 4", { hash }));
    expect(await broadcast()).toMatchObject({ result: hash });
  });

  test("when one node is dead and another hangs", async () => {
    all(() => hash);
    nodes[0]?.behave(hang);
    nodes[1]?.behave(() => new Response("", { status: 503 }));
    for (let n = 0; n < 5; n++) expect((await broadcast()).result).toBe(hash);
  });

  test("even when the caller has left", async () => {
    all(() => hash);
    const params = JSON.stringify([raw]);
    const call = { method: "eth_sendRawTransaction", params };
    const reply = await pool.call(1, call, { signal: AbortSignal.abort() });
    expect(reply.isError).toBe(false);
  });
});

describe("the transaction is rejected", () => {
  test.each([
    [-32_000, "nonce too low"],
    [-32_000, "replacement transaction underpriced"],
    [-32_000, "insufficient funds for gas * price + value"],
    [-32_603, "insufficient funds"],
    [-32_000, "invalid sender"],
  ])("%d %s reaches the caller unchanged", async (code, message) => {
    all(says(code, message));
    expect((await broadcast()).error).toEqual({ code, message });
  });
});

test("no node took or rejected it", async () => {
  all(() => new Response("", { status: 500 }));
  await expect(broadcast()).rejects.toBeInstanceOf(UpstreamUnavailableError);
  expect(sentTo().reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(3);
});

import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { type Anvil, startAnvil } from "../../src/sandbox/anvil.ts";
import { type FaultNode, startFaultNode } from "../../src/sandbox/faults/node.ts";
import type { Fault } from "../../src/sandbox/faults/model.ts";
import { testProcesses } from "../support/chain.ts";

let chain: Anvil;
let node: FaultNode;

beforeAll(async () => {
  chain = await startAnvil(testProcesses(), { chainId: 5042 });
  await chain.rpc.call("anvil_mine", ["0x14"]);
  node = startFaultNode({ target: chain.url, controlPort: 0 });
}, 60_000);

afterEach(async () => {
  await node.setFaults([]);
  node.ledger.reset();
});

afterAll(async () => {
  await node.stop();
  await chain.stop();
});

const call = (method: string, params: unknown[] = [], id = 7) => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

function post(body: unknown, timeoutMs = 5_000): Promise<Response> {
  return fetch(node.url, {
    method: "POST",
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
  });
}

async function json(body: unknown) {
  return (await (await post(body)).json()) as Record<string, unknown>;
}

async function failure(request: Promise<Response>): Promise<string> {
  try {
    await (await request).text();
    return "answered";
  } catch (error) {
    return String((error as { code?: unknown }).code ?? (error as Error).name);
  }
}

test("a node without faults passes the chain's answer on, byte for byte", async () => {
  const body = call("eth_getBlockByNumber", ["0x3", true]);
  const direct = await fetch(chain.url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(await (await post(body)).text()).toBe(await direct.text());
});

test("status answers with the status and the wanted kind of body", async () => {
  await node.setFaults([{ kind: "status", status: 503, body: "html" }]);
  const html = await post(call("eth_chainId"));
  expect(html.status).toBe(503);
  expect(await html.text()).toContain("<html>");

  await node.setFaults([{ kind: "status", status: 500 }]);
  const response = await post(call("eth_chainId"));
  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({ id: 7, error: { code: -32_000 } });
});

test("rateLimit has three forms", async () => {
  await node.setFaults([{ kind: "rateLimit", as: "status", retryAfterSeconds: 3 }]);
  const response = await post(call("eth_chainId"));
  expect(response.status).toBe(429);
  expect(response.headers.get("retry-after")).toBe("3");

  await node.setFaults([{ kind: "rateLimit", as: "rpcError" }]);
  const inBody = await post(call("eth_chainId"));
  expect(inBody.status).toBe(200);
  expect(inBody.headers.get("retry-after")).toBeNull();
  expect(await inBody.json()).toMatchObject({ id: 7, error: { code: -32_005 } });

  await node.setFaults([{ kind: "rateLimit", as: "batchItems" }]);
  const batch = await post([call("eth_chainId", [], 1), call("eth_chainId", [], 2)]);
  expect(await batch.json()).toMatchObject([
    { id: 1, error: { code: -32_005 } },
    { id: 2, result: "0x13b2" },
  ]);
});

test("rateCap lets a window's requests through and refuses the next", async () => {
  await node.setFaults([{ kind: "rateCap", requests: 2, windowMs: 600_000 }]);
  const statuses: number[] = [];
  for (let i = 0; i < 3; i++) statuses.push((await post(call("eth_chainId"))).status);
  expect(statuses).toEqual([200, 200, 429]);
});

test("reset, truncate and garbage break the answer in their own way", async () => {
  await node.setFaults([{ kind: "reset" }]);
  expect(await failure(post(call("eth_chainId")))).toBe("ECONNRESET");

  await node.setFaults([{ kind: "truncate" }]);
  expect(await failure(post(call("eth_getBlockByNumber", ["0x1", false])))).not.toBe("answered");

  await node.setFaults([{ kind: "garbage" }]);
  const response = await post(call("eth_chainId"));
  expect(response.status).toBe(200);
  const text = await response.text();
  expect(() => JSON.parse(text)).toThrow();
});

test("hang never answers, and the request counts as in flight until the caller leaves", async () => {
  await node.setFaults([{ kind: "hang" }]);
  const leave = new AbortController();
  const pending = fetch(node.url, {
    method: "POST",
    body: JSON.stringify(call("eth_chainId")),
    signal: leave.signal,
  });
  while (node.ledger.counts().inFlight === 0) await Bun.sleep(1);
  leave.abort();
  expect(await failure(pending)).not.toBe("answered");
  while (node.ledger.counts().inFlight > 0) await Bun.sleep(1);
  expect(node.ledger.counts()).toMatchObject({ requests: 1, maxInFlight: 1 });
}, 60_000);

test("delay holds the request back", async () => {
  await node.setFaults([{ kind: "delay", ms: 60, jitterMs: 10 }]);
  const start = performance.now();
  await post(call("eth_chainId"));
  expect(performance.now() - start).toBeGreaterThanOrEqual(58);
});

test("lag hides the newest blocks from every way of asking", async () => {
  const head = Number(await chain.rpc.call("eth_blockNumber"));
  const accounts = (await chain.rpc.call("eth_accounts")) as string[];
  const recipient = "0x00000000000000000000000000000000000000aa";
  const hash = await chain.rpc.call("eth_sendTransaction", [
    { from: accounts[9], to: recipient, value: "0x5" },
  ]);
  while ((await chain.rpc.call("eth_getTransactionReceipt", [hash])) === null) await Bun.sleep(1);

  await node.setFaults([{ kind: "lag", blocks: 3 }]);
  const seen = `0x${(head + 1 - 3).toString(16)}`;
  const above = `0x${(head + 1).toString(16)}`;
  expect(await json(call("eth_blockNumber"))).toMatchObject({ result: seen });
  expect(await json(call("eth_getBlockByNumber", ["latest", false]))).toMatchObject({
    result: { number: seen },
  });
  expect(await json(call("eth_getBlockByNumber", [above, false]))).toMatchObject({ result: null });
  expect(await json(call("eth_getBalance", [recipient, "latest"]))).toMatchObject({
    result: "0x0",
  });
  expect(await json(call("eth_getBalance", [recipient, above]))).toMatchObject({
    error: { code: -32_000 },
  });
  expect(await json(call("eth_getTransactionReceipt", [hash]))).toMatchObject({ result: null });
  const logs = await json(call("eth_getLogs", [{ fromBlock: above, toBlock: above }]));
  expect(logs).toMatchObject({ result: [] });

  await node.setFaults([]);
  expect(await json(call("eth_getBalance", [recipient, "latest"]))).toMatchObject({
    result: "0x5",
  });
});

test("wrongChain and wrongId lie about what they say and nothing else", async () => {
  await node.setFaults([{ kind: "wrongChain", chainId: 1 }]);
  expect(await json(call("eth_chainId"))).toMatchObject({ id: 7, result: "0x1" });
  expect(await json(call("net_version"))).toMatchObject({ id: 7, result: "1" });
  await node.setFaults([{ kind: "wrongId" }]);
  expect(await json(call("eth_chainId"))).toMatchObject({ id: 1_000_007, result: "0x13b2" });
});

test("batch faults reorder, drop and merge items", async () => {
  const items = [call("eth_chainId", [], 1), call("net_version", [], 2)];
  const ids = async (as: "reversed" | "missing" | "singleError") => {
    await node.setFaults([{ kind: "batch", as }]);
    const answer = (await (await post(items)).json()) as { id: number }[] | { id: null };
    return Array.isArray(answer) ? answer.map(({ id }) => id) : answer.id;
  };
  expect(await ids("reversed")).toEqual([2, 1]);
  expect(await ids("missing")).toEqual([1]);
  expect(await ids("singleError")).toBeNull();
});

test("down refuses connections and ends by itself, or by the control port", async () => {
  await node.setFaults([{ kind: "down", forMs: 50 }]);
  expect(await failure(post(call("eth_chainId")))).toBe("ECONNREFUSED");
  let up = false;
  for (let i = 0; i < 200 && !up; i++) {
    up = (await failure(post(call("eth_chainId")))) === "answered";
    await Bun.sleep(10);
  }
  expect(up).toBe(true);

  await node.setFaults([{ kind: "down" }]);
  expect(await failure(post(call("eth_chainId")))).toBe("ECONNREFUSED");
  const answer = await fetch(`${node.controlUrl}/faults`, {
    method: "POST",
    body: JSON.stringify({ faults: [] }),
  });
  expect(answer.status).toBe(200);
  expect((await post(call("eth_chainId"))).status).toBe(200);
});

test("stop and restart keep the port", async () => {
  const { url } = node;
  await node.stop();
  expect(await failure(post(call("eth_chainId")))).toBe("ECONNREFUSED");
  await node.restart();
  expect(node.url).toBe(url);
  expect((await post(call("eth_chainId"))).status).toBe(200);
});

test("methods, times and probability choose what is hit; the seed repeats the choice", async () => {
  await node.setFaults([{ kind: "status", status: 500, methods: ["eth_call"], times: 1 }]);
  expect((await post(call("eth_chainId"))).status).toBe(200);
  expect((await post(call("eth_call", [{}, "latest"]))).status).toBe(500);
  expect((await post(call("eth_call", [{}, "latest"]))).status).toBe(200);

  const half: Fault[] = [{ kind: "status", status: 500, probability: 0.5 }];
  const run = async (seed: number) => {
    await node.setFaults(half, seed);
    const statuses: number[] = [];
    for (let i = 0; i < 40; i++) statuses.push((await post(call("eth_chainId"))).status);
    return statuses;
  };
  const first = await run(11);
  expect(await run(11)).toEqual(first);
  expect(await run(12)).not.toEqual(first);
  expect(new Set(first)).toEqual(new Set([200, 500]));
});

test("the control routes read and replace the script, and refuse what is no script", async () => {
  const set = (body: unknown) =>
    fetch(`${node.url}/faults`, { method: "POST", body: JSON.stringify(body) });
  const fault = { kind: "delay", ms: 1 };
  expect((await set({ faults: [fault] })).status).toBe(200);
  const read = await (await fetch(`${node.url}/faults`)).json();
  expect(read).toEqual({ faults: [{ fault, hits: 0 }] });
  expect((await set({ faults: [{ kind: "explode" }] })).status).toBe(400);

  await post([call("eth_chainId", [], 1), call("eth_chainId", [], 2)]);
  const ledger = await (await fetch(`${node.url}/ledger`)).json();
  expect(ledger).toMatchObject({
    requests: 1,
    calls: 2,
    methods: { eth_chainId: 2 },
    faults: { delay: 1 },
    inFlight: 0,
  });
});

test("a node whose chain is gone answers 502", async () => {
  const orphan = startFaultNode({ target: "http://127.0.0.1:1" });
  const response = await fetch(orphan.url, {
    method: "POST",
    body: JSON.stringify(call("eth_chainId")),
  });
  expect(response.status).toBe(502);
  await orphan.stop();
});

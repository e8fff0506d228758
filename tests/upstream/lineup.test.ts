import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { applyChanges, upstreamId } from "../../src/upstream/index.ts";
import {
  createUpstreamPool,
  UpstreamRefusedError,
  type UpstreamPool,
} from "../../src/upstream/index.ts";
import { load } from "./load.ts";
import { hang, registryOf, startNode, type TestNode } from "./node.ts";

let nodes: TestNode[];
let pool: UpstreamPool;

beforeEach(() => {
  nodes = [startNode(), startNode(), startNode(), startNode()];
  pool = createUpstreamPool({ registry: registryOf([nodes[0]!.url, nodes[1]!.url]) });
});
afterEach(async () => {
  pool.close();
  await Promise.all(nodes.map((node) => node.kill()));
});

let next = 0;
const call = () => pool.call(1, { method: "eth_call", params: `["${++next}"]` });
const many = async (count: number) => {
  for (let n = 0; n < count; n++) await call();
};
const idOf = (index: number) => upstreamId(1, nodes[index]!.url);
const stateOf = (index: number) => pool.status().find(({ id }) => id === idOf(index))?.state;
const callsOf = (index: number) => nodes[index]!.calls().length;
const refusal = async (attaching: Promise<unknown>) => {
  const error: unknown = await attaching.catch((caught: unknown) => caught);
  return error instanceof UpstreamRefusedError ? error.reason : error;
};

describe("attaching", () => {
  test("a node takes its share from then on, and was asked for its chain first", async () => {
    await many(5);
    const status = await pool.attach(1, { url: nodes[2]!.url });
    expect(status).toMatchObject({ id: idOf(2), chainId: 1, state: "active" });
    expect(nodes[2]!.requests.map(({ method }) => method)).toEqual([
      "eth_chainId",
      "eth_blockNumber",
    ]);
    // A first look that met a busy machine makes the node seem slow for a moment.
    const deadline = performance.now() + 10_000;
    while (callsOf(2) <= 5 && performance.now() < deadline) await many(60);
    expect(callsOf(2)).toBeGreaterThan(5);
  });

  test("a node of another chain, a silent one or one in use changes nothing", async () => {
    nodes[2]!.setChainId(9);
    expect(await refusal(pool.attach(1, { url: nodes[2]!.url }))).toBe("wrong-chain");
    nodes[3]!.behaveAlways(() => new Response("", { status: 500 }));
    expect(await refusal(pool.attach(1, { url: nodes[3]!.url }))).toBe("silent");
    expect(await refusal(pool.attach(1, { url: nodes[0]!.url }))).toBe("attached-already");
    expect(await refusal(pool.attach(77, { url: nodes[2]!.url }))).toBe("unknown-chain");
    expect(pool.status()).toHaveLength(2);
    await many(30);
    expect([...nodes[2]!.calls(), ...nodes[3]!.calls()]).toEqual([]);
  });

  test("the same node twice at once takes it once", async () => {
    const both = await Promise.all([
      refusal(pool.attach(1, { url: nodes[2]!.url })),
      refusal(pool.attach(1, { url: nodes[2]!.url })),
    ]);
    expect(both.filter((one) => one === "attached-already")).toHaveLength(1);
    expect(pool.status()).toHaveLength(3);
  });
});

describe("draining", () => {
  test("ends new calls and not those under way", async () => {
    await many(3);
    const answer = Promise.withResolvers<string>();
    const under = [call(), call(), call(), call()];
    for (const node of nodes.slice(0, 2)) node.behave(() => answer.promise);
    while (callsOf(0) + callsOf(1) < 7) await Bun.sleep(1);
    expect(pool.drain(idOf(0))).toBe(true);
    expect(stateOf(0)).toBe("draining");
    nodes[0]!.requests.length = 0;
    answer.resolve("0x9");
    for (const reply of await Promise.all(under)) expect(reply.isError).toBe(false);
    await many(30);
    expect(nodes[0]!.requests).toEqual([]);
  });

  test("is undone by attaching the node again", async () => {
    await many(3);
    pool.drain(idOf(0));
    await pool.attach(1, { url: nodes[0]!.url });
    await many(40);
    expect(stateOf(0)).toBe("active");
    expect(pool.status()).toHaveLength(2);
  });

  test("the last node leaves none, and calls fail until there is one", async () => {
    await many(1);
    expect(await pool.remove(idOf(0))).toBe(true);
    expect(await pool.remove(idOf(1))).toBe(true);
    await expect(call()).rejects.toThrow("no upstream answered");
    await pool.attach(1, { url: nodes[2]!.url });
    expect((await call()).isError).toBe(false);
  });

  test("what is unknown is said to be", async () => {
    expect(pool.drain("nothing")).toBe(false);
    expect(await pool.remove("nothing")).toBe(false);
  });
});

describe("removing", () => {
  test("waits for the calls under way", async () => {
    await many(3);
    const answer = Promise.withResolvers<string>();
    nodes[0]!.behave(() => answer.promise);
    nodes[1]!.behave(hang);
    await pool.remove(idOf(1));
    const before = callsOf(0);
    const under = call();
    while (callsOf(0) === before) await Bun.sleep(1);
    let isGone = false;
    const removing = pool.remove(idOf(0)).then(() => (isGone = true));
    await Bun.sleep(60);
    expect(isGone).toBe(false);
    answer.resolve("0x9");
    expect((await under).isError).toBe(false);
    await removing;
    expect(pool.status()).toEqual([]);
  });

  test("100 changes at 500 requests per second fail no request", async () => {
    await many(3);
    let changes = 0;
    let isOver = false;
    const change = async () => {
      while (changes < 100) {
        const index = 1 + (changes % 3);
        await pool.attach(1, { url: nodes[index]!.url }).catch(() => {});
        changes++;
        await Bun.sleep(10);
        if (changes % 2 === 0) pool.drain(idOf(index));
        await pool.remove(idOf(index));
        changes++;
        await Bun.sleep(10);
      }
      isOver = true;
    };
    const changing = change();
    const steps = new Map([[100, () => {}]]);
    const result = await load(pool, { perSecond: 500, forMs: 20_000, steps, done: () => isOver });
    await changing;
    expect(changes).toBe(100);
    expect(result.failed).toBe(0);
    expect(result.sent).toBeGreaterThan(500);
    expect(pool.status().map(({ state }) => state)).toEqual(["active"]);
    expect(nodes[3]!.calls().length).toBeGreaterThan(20);
  }, 40_000);
});

test("changes of earlier processes make the lineup of the next", () => {
  const registry = registryOf(["http://a.io/1", "http://b.io/2"]);
  const changed = applyChanges(registry, [
    { kind: "removed", chainId: 1, id: upstreamId(1, "http://a.io/1") },
    { kind: "added", chainId: 1, upstream: { url: "http://c.io/3", maxConcurrent: 7 } },
    { kind: "added", chainId: 99, upstream: { url: "http://d.io/4" } },
    { kind: "added", chainId: 1, upstream: { url: "http://b.io/2", account: "b" } },
  ]);
  expect(changed.byId(1)?.upstreams).toEqual([
    { url: "http://b.io/2", account: "b" },
    { url: "http://c.io/3", maxConcurrent: 7 },
  ]);
  expect(changed.byName("test")).toBe(changed.byId(1));
  expect(changed.all).toHaveLength(1);
});

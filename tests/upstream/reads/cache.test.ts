import { afterEach, describe, expect, test } from "bun:test";
import { AnswerCache } from "../../../src/upstream/reads/cache.ts";
import { hex, RpcFailure, simulate, type Simulation, type SimulationOptions } from "./simulated.ts";

const HEAD = 10_000;
const FINAL = HEAD - 64;
let sim: Simulation;
afterEach(() => sim.pool.close());

async function start(options: SimulationOptions = {}) {
  sim = simulate({ head: HEAD, ...options });
  await sim.ask("eth_blockNumber");
}

/** Asks twice. @returns where the answers came from */
async function twice(method: string, params: readonly unknown[]) {
  const call = { method, params: JSON.stringify(params) };
  const first = await sim.pool.call(1, call);
  const second = await sim.pool.call(1, call);
  return { sources: [first.source, second.source], first, second };
}

const HASH = `0x${"12".repeat(32)}`;
const ADDRESS = `0x${"34".repeat(20)}`;
const inclusion = (block: number | null) => ({
  hash: HASH,
  blockNumber: block === null ? null : hex(block),
});

describe("an answer that cannot change is asked for once", () => {
  const fixed: [string, readonly unknown[], unknown][] = [
    ["eth_getBlockByNumber", [hex(FINAL), false], undefined],
    ["eth_getBlockByHash", [HASH, false], { number: hex(FINAL), hash: HASH, parentHash: HASH }],
    ["eth_getTransactionReceipt", [HASH], inclusion(FINAL)],
    ["eth_getTransactionByHash", [HASH], inclusion(1)],
    ["eth_call", [{ to: ADDRESS, data: "0x01" }, hex(FINAL)], undefined],
    ["eth_getBalance", [ADDRESS, hex(FINAL)], undefined],
    ["eth_getCode", [ADDRESS, { blockNumber: hex(5) }], undefined],
    ["eth_getLogs", [{ fromBlock: hex(FINAL - 5), toBlock: hex(FINAL) }], undefined],
    ["net_version", [], undefined],
  ];
  test.each(fixed)("%s %j", async (method, params, result) => {
    await start();
    const [node] = sim.nodes;
    if (node && result) node.override = (asked) => (asked === method ? result : undefined);
    const { sources, first, second } = await twice(method, params);
    expect(sources).toEqual(["upstream", "cache"]);
    expect(sim.count(method)).toBe(1);
    expect(Buffer.from(second.bytes).equals(Buffer.from(first.bytes))).toBe(true);
    expect(second.id).toEqual(first.id);
  });

  test("the same block written with zeros, and an address in another case, is the same question", async () => {
    await start();
    await sim.ask("eth_getBalance", [ADDRESS, hex(FINAL)]);
    await sim.ask("eth_getBalance", [
      ADDRESS.toUpperCase().replace("0X", "0x"),
      `0x000${hex(FINAL).slice(2)}`,
    ]);
    expect(sim.count("eth_getBalance")).toBe(1);
  });

  test("eth_chainId and net_listening are told without asking", async () => {
    await start();
    expect(await sim.ask("eth_chainId")).toBe("0x1");
    expect(await sim.ask("net_listening")).toBe(true);
    expect(sim.count("net_listening")).toBe(0);
  });
});

describe("what may change, or says nothing, is asked for again", () => {
  const open: [string, string, readonly unknown[], unknown][] = [
    ["a block above the final one", "eth_getBlockByNumber", [hex(FINAL + 1), false], undefined],
    ["a transaction above it", "eth_getTransactionReceipt", [HASH], inclusion(FINAL + 1)],
    ["a transaction not mined yet", "eth_getTransactionByHash", [HASH], inclusion(null)],
    ["state above it", "eth_getBalance", [ADDRESS, hex(FINAL + 1)], undefined],
    ["state at the tip", "eth_getBalance", [ADDRESS, "latest"], undefined],
    ["state at a tag", "eth_getBalance", [ADDRESS, "finalized"], undefined],
    [
      "state at a hash, whose number is not known",
      "eth_getBalance",
      [ADDRESS, { blockHash: HASH }],
      undefined,
    ],
    [
      "a range that ends above it",
      "eth_getLogs",
      [{ fromBlock: "0x1", toBlock: hex(FINAL + 1) }],
      undefined,
    ],
    [
      "a range that ends at the tip",
      "eth_getLogs",
      [{ fromBlock: hex(FINAL), toBlock: "latest" }],
      undefined,
    ],
    [
      "an empty list",
      "eth_getLogs",
      [{ fromBlock: hex(5), toBlock: hex(6), address: ADDRESS }],
      [],
    ],
    ["null", "eth_getTransactionReceipt", [HASH], null],
    ["empty data", "eth_call", [{ to: ADDRESS }, hex(5)], "0x"],
    ["the price of gas", "eth_gasPrice", [], undefined],
    ["the head", "eth_blockNumber", [], undefined],
    ["a method that is not known", "eth_something", [hex(5)], undefined],
  ];
  test.each(open)("%s", async (_, method, params, result) => {
    await start();
    const [node] = sim.nodes;
    if (node && result !== undefined) {
      // Stands for null, which an override cannot answer with.
      const text = result === null ? { toJSON: () => null } : result;
      node.override = (asked) => (asked === method ? text : undefined);
    }
    expect((await twice(method, params)).sources).not.toContain("cache");
  });

  test("an error", async () => {
    await start();
    const call = { method: "eth_call", params: JSON.stringify([{ to: ADDRESS }, hex(5)]) };
    const [node] = sim.nodes;
    if (node) node.override = () => new RpcFailure(3, "execution reverted");
    expect((await sim.pool.call(1, call)).isError).toBe(true);
    if (node) node.override = undefined;
    expect((await sim.pool.call(1, call)).isError).toBe(false);
  });
});

const params = (block: number) => [hex(block), false] as const;

describe("a chain that is not what it was", () => {
  test("a hash that contradicts an earlier one drops what was kept from there on, and nothing below", async () => {
    await start();
    for (const block of [5_000, 5_001, 5_002]) await twice("eth_getBlockByNumber", params(block));
    sim.chain.fork = { from: 5_001, name: "other" };
    // The child of 5,002 names a parent that is not the one that was kept.
    await sim.ask("eth_getBlockByNumber", params(5_003));
    const read = async (block: number) =>
      (await twice("eth_getBlockByNumber", params(block))).sources[0];
    expect(await read(5_002)).toBe("upstream");
    expect(await read(5_000)).toBe("cache");
  });

  test("a chain that went back takes what was kept with it, once no node shows the old head", async () => {
    let nowMs = 1_000_000;
    const clock = {
      now: () => nowMs,
      monotonic: () => nowMs,
      sleep: (ms: number) => Bun.sleep(ms),
    };
    await start({ dependencies: { clock }, blockTimeMs: 100 });
    await sim.ask("eth_getBalance", [ADDRESS, hex(FINAL)], { caller: "a" });
    await sim.ask("eth_blockNumber", [], { caller: "a" });
    sim.chain.head = FINAL - 1;
    while (sim.pool.head(1) === HEAD) {
      nowMs += 2_000;
      await Bun.sleep(200);
    }
    expect(await sim.ask("eth_blockNumber", [], { caller: "a" })).toBe(hex(FINAL - 1));
    sim.chain.head = HEAD;
    const reply = await sim.pool.call(1, {
      method: "eth_getBalance",
      params: JSON.stringify([ADDRESS, hex(FINAL)]),
    });
    expect(reply.source).toBe("upstream");
  }, 60_000);
});

describe("where nodes know the tag", () => {
  test("what is final is what they say, not what the depth would say", async () => {
    await start({ finality: { hasTag: true } });
    const [node] = sim.nodes;
    if (node) {
      node.override = (method, [block]) =>
        method === "eth_getBlockByNumber" && block === "finalized"
          ? sim.chain.block(9_000)
          : undefined;
    }
    const isKept = async () =>
      (await twice("eth_getBalance", [ADDRESS, hex(9_000)])).sources[1] === "cache";
    for (let round = 0; round < 100 && !(await isKept()); round++);
    expect(await isKept()).toBe(true);
    expect((await twice("eth_getBalance", [ADDRESS, hex(9_001)])).sources).not.toContain("cache");
  });
});

describe("memory", () => {
  test("stays below the bound, and the least used goes first", () => {
    const cache = new AnswerCache(64 * 1_024);
    const answer = { bytes: new Uint8Array(4_000), id: undefined, upstream: "a", block: 1 };
    for (let n = 0; n < 100; n++) {
      cache.set(1, `key ${n}`, answer);
      cache.get(1, "key 0");
      expect(cache.size).toBeLessThanOrEqual(64 * 1_024);
    }
    expect(cache.get(1, "key 0")).toBeDefined();
    expect(cache.get(1, "key 1")).toBeUndefined();
    expect(cache.get(2, "key 0")).toBeUndefined();
    cache.set(1, "huge", { ...answer, bytes: new Uint8Array(60 * 1_024) });
    expect(cache.get(1, "huge")).toBeUndefined();
  });
});

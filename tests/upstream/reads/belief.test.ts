import { afterEach, describe, expect, test } from "bun:test";
import { keccak256 } from "viem";
import { UpstreamUnavailableError } from "../../../src/upstream/index.ts";
import { hex, simulate, type Simulation } from "./simulated.ts";

const HEAD = 10_000;
let sim: Simulation;
afterEach(() => sim.pool.close());

/** Nodes with these lags, all known. */
async function start(...lags: number[]) {
  sim = simulate({ head: HEAD, lags: lags.map((lag) => () => lag), blockTimeMs: 1_000, seed: 5 });
  await sim.ask("eth_gasPrice");
  while (sim.pool.status().some(({ state }) => state !== "active")) await Bun.sleep(1);
  for (const node of sim.nodes) node.calls.length = 0;
}

/** Stands for null, which an override cannot answer with. */
const nothing = { toJSON: () => null };
const HASH = `0x${"12".repeat(32)}`;

describe("who is asked", () => {
  test("a number: only nodes that have the block, and all of those", async () => {
    await start(0, 0, 5, 6);
    for (let n = 0; n < 200; n++) {
      await sim.ask("eth_call", [{ data: hex(n) }, hex(HEAD - 5)]);
    }
    const [one, two, three, four] = sim.nodes.map(({ calls }) => calls.length);
    expect(four).toBe(0);
    for (const calls of [one, two, three]) expect(calls).toBeGreaterThan(30);
  });

  test("a number nobody has yet: the heads are looked at, and a node answers that it is not there", async () => {
    await start(0, 3);
    sim.chain.head++;
    expect(await sim.ask("eth_getBlockByNumber", [hex(HEAD + 1), false])).not.toBeNull();
    expect(await sim.ask("eth_getBlockByNumber", [hex(HEAD + 5), false])).toBeNull();
  });

  test("a caller who has seen a block is kept waiting until a node has it", async () => {
    await start(0, 4);
    await sim.ask("eth_getBlockByNumber", ["latest", false], { caller: "a" });
    for (let n = 0; n < 5; n++) await sim.ask("eth_blockNumber", [], { caller: "a" });
    const [ahead, behind] = sim.nodes;
    if (!ahead || !behind) throw new Error("two nodes are needed");
    ahead.lag = () => 4;
    sim.chain.head += 4;
    const balance = await sim.ask("eth_getBalance", [HASH, "latest"], { caller: "a" });
    expect(Number(balance)).toBeGreaterThanOrEqual(1_000_000 + HEAD);
  });

  test("no answer is better than one from before what the caller has seen", async () => {
    await start(0, 4);
    while (Number(await sim.ask("eth_blockNumber", [], { caller: "a" })) < HEAD);
    const [ahead] = sim.nodes;
    if (!ahead) throw new Error("a node is needed");
    ahead.faultRate = 1;
    const asked = sim.ask("eth_getBalance", [HASH, "latest"], { caller: "a" });
    await expect(asked).rejects.toBeInstanceOf(UpstreamUnavailableError);
    // Another caller has not seen it.
    expect(Number(await sim.ask("eth_getBalance", [HASH, "latest"]))).toBe(1_000_000 + HEAD - 4);
  }, 60_000);
});

describe("an answer that says nothing", () => {
  test("a recent block that one node denies is asked of another", async () => {
    await start(0, 0);
    const [liar] = sim.nodes;
    if (liar) liar.override = (method) => (method === "eth_getBlockByNumber" ? nothing : undefined);
    for (let n = 0; n < 20; n++) {
      expect(await sim.ask("eth_getBlockByNumber", [hex(HEAD - n), false])).not.toBeNull();
    }
  });

  test("a recent block that all deny is no answer; an old one may have been pruned", async () => {
    await start(0, 0);
    for (const node of sim.nodes) {
      node.override = (method) => (method === "eth_getBlockByNumber" ? nothing : undefined);
    }
    expect(await sim.ask("eth_getBlockByNumber", [hex(5), false])).toBeNull();
    const recent = sim.ask("eth_getBlockByNumber", [hex(HEAD), false]);
    await expect(recent).rejects.toBeInstanceOf(UpstreamUnavailableError);
  });

  test("the receipt of one's own transaction is asked of a node at the head", async () => {
    await start(9, 0, 9);
    const raw = "0x02aa";
    for (const node of sim.nodes) {
      const isAhead = node === sim.nodes[1];
      node.override = (method) => {
        if (method === "eth_sendRawTransaction") return keccak256(raw);
        if (method !== "eth_getTransactionReceipt") return undefined;
        return isAhead ? { blockNumber: hex(HEAD) } : nothing;
      };
    }
    await sim.ask("eth_sendRawTransaction", [raw], { caller: "a" });
    for (let n = 0; n < 20; n++) {
      const receipt = await sim.ask("eth_getTransactionReceipt", [keccak256(raw)], { caller: "a" });
      expect(receipt).toEqual({ blockNumber: hex(HEAD) });
    }
  });

  test("a transaction that a node far behind does not know is asked of another", async () => {
    await start(30, 30, 0);
    for (const node of sim.nodes) {
      const isAhead = node === sim.nodes[2];
      node.override = (method) =>
        method === "eth_getTransactionByHash"
          ? isAhead
            ? { blockNumber: hex(HEAD) }
            : nothing
          : undefined;
    }
    for (let n = 0; n < 10; n++) {
      expect(await sim.ask("eth_getTransactionByHash", [HASH])).not.toBeNull();
    }
  });
});

describe("a head that leaps", () => {
  test("is not told while no other node is near it", async () => {
    await start(0, 0, 0);
    const [liar] = sim.nodes;
    if (liar) liar.lag = () => -1_000_000;
    for (let n = 0; n < 20; n++) {
      expect(Number(await sim.ask("eth_blockNumber", [], { caller: "a" }))).toBe(HEAD);
    }
  });

  test("is told when the whole chain moved", async () => {
    await start(0, 0, 0);
    sim.chain.head += 1_000_000;
    expect(Number(await sim.ask("eth_blockNumber", [], { caller: "a" }))).toBe(HEAD + 1_000_000);
  });
});

import { afterEach, describe, expect, test } from "bun:test";
import { openDatabase } from "../../../src/db/index.ts";
import {
  hex,
  RpcFailure,
  simulate,
  type Simulation,
  type SimulationOptions,
} from "../reads/simulated.ts";

const HEAD = 200_000;
let open: Simulation[] = [];
afterEach(() => {
  for (const { pool } of open) pool.close();
  open = [];
});

/** Three nodes with limits of 1,000, 2,000 and 10,000 blocks. */
function threeCaps(
  options: SimulationOptions = {},
  faultRate = 0,
  text?: (max: number) => string,
): Simulation {
  const sim = simulate({ lags: [() => 0, () => 0, () => 0], head: HEAD, ...options });
  open.push(sim);
  // 100,000 real hashes per run would be most of its time.
  sim.chain.hash = hex;
  const caps = [1_000, 2_000, 10_000];
  for (const [index, node] of sim.nodes.entries()) {
    node.faultRate = faultRate;
    node.latencyMs = 2;
    node.logLimits = { maxBlocks: caps[index] ?? 0, ...(text && { text }) };
  }
  return sim;
}

const mute = () => "block range is too wide";
const range = (from: number, to: number) => ({ fromBlock: hex(from), toBlock: hex(to) });
const blocksOf = (logs: unknown) =>
  (logs as { blockNumber: string }[]).map(({ blockNumber }) => Number(blockNumber));
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** Makes every node known, so that none is left out at the start. */
async function ready(sim: Simulation): Promise<void> {
  await sim.ask("eth_blockNumber");
  while (sim.pool.status().some(({ state }) => state !== "active")) await Bun.sleep(1);
}

/** What one query did: which answers it got, and from how many requests. */
async function query(sim: Simulation, from: number, to: number) {
  for (const node of sim.nodes) {
    node.calls.length = 0;
    node.faults = 0;
  }
  let refused = 0;
  for (const node of sim.nodes) {
    const { maxBlocks = Number.POSITIVE_INFINITY } = node.logLimits;
    node.override = (method, [filter]) => {
      if (method !== "eth_getLogs") return undefined;
      const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string };
      if (Number(toBlock) - Number(fromBlock) + 1 > maxBlocks) refused++;
      return undefined;
    };
  }
  const logs = await sim.ask("eth_getLogs", [range(from, to)]);
  const faults = sim.nodes.reduce((sum, node) => sum + node.faults, 0);
  return { blocks: blocksOf(logs), requests: sim.count("eth_getLogs"), refused, faults };
}

describe("100,000 blocks over limits of 1,000, 2,000 and 10,000", () => {
  /** At 10,000 blocks each. */
  const minimal = 10;

  test("limits that are named: at most 1.2 times the minimal requests from the first run on", async () => {
    for (let seed = 1; seed <= 4; seed++) {
      const sim = threeCaps({ seed, dependencies: { cacheMaxBytes: 0 } });
      await ready(sim);
      const first = await query(sim, 50_001, 150_000);
      expect(first.blocks).toEqual(numbers(50_001, 150_000));
      expect(first.requests).toBeLessThanOrEqual(1.2 * minimal);
      const second = await query(sim, 50_001, 150_000);
      expect([second.requests, second.refused]).toEqual([minimal, 0]);
    }
  }, 60_000);

  test("limits that are not named: at most 1.3 times, and no refusal on the second run", async () => {
    for (let seed = 1; seed <= 2; seed++) {
      const sim = threeCaps({ seed, dependencies: { cacheMaxBytes: 0 } }, 0, mute);
      await ready(sim);
      const first = await query(sim, 50_001, 150_000);
      expect(first.blocks).toEqual(numbers(50_001, 150_000));
      expect(first.requests).toBeLessThanOrEqual(1.3 * minimal);
      const second = await query(sim, 50_001, 150_000);
      expect([second.requests, second.refused]).toEqual([minimal, 0]);
    }
  }, 60_000);

  test("with 5 % faults: all logs once, in order, and a fault costs its own piece once more", async () => {
    const totals = { first: 0, second: 0, runs: 0 };
    for (let seed = 1; seed <= 5; seed++) {
      const database = openDatabase(":memory:");
      const dependencies = { logCaps: database.logCaps, cacheMaxBytes: 0 };
      const sim = threeCaps({ seed, dependencies }, 0.05);
      await ready(sim);
      const first = await query(sim, 50_001, 150_000);
      expect(first.blocks).toEqual(numbers(50_001, 150_000));
      expect(first.refused).toBeLessThanOrEqual(2);
      expect(first.requests).toBeLessThanOrEqual(minimal + first.refused + first.faults);
      // Another process, which knows only what is in the database.
      const later = threeCaps({ seed: seed + 100, dependencies }, 0.05);
      await ready(later);
      const second = await query(later, 50_001, 150_000);
      expect(second.blocks).toEqual(numbers(50_001, 150_000));
      expect(second.refused).toBe(0);
      expect(second.requests).toBe(minimal + second.faults);
      totals.first += first.requests - first.faults;
      totals.second += second.requests;
      totals.runs++;
      database.close();
    }
    expect(totals.first / totals.runs).toBeLessThanOrEqual(1.2 * minimal);
    expect(totals.second / totals.runs).toBeLessThanOrEqual(1.2 * minimal);
  }, 60_000);

  test("the node of the largest limit dies half-way: the rest is asked of the others", async () => {
    const sim = threeCaps();
    await ready(sim);
    await query(sim, 50_001, 150_000);
    const [, , large] = sim.nodes;
    if (!large) throw new Error("no third node");
    let answered = 0;
    large.override = (method) => {
      if (method === "eth_getLogs" && ++answered > 4) large.faultRate = 1;
      return undefined;
    };
    const logs = await sim.ask("eth_getLogs", [range(50_001, 150_000)]);
    expect(blocksOf(logs)).toEqual(numbers(50_001, 150_000));
  }, 60_000);
});

describe("what nodes do not say", () => {
  test("a limit that no text names is found by asking for less", async () => {
    const sim = simulate({ head: HEAD, dependencies: { cacheMaxBytes: 0 } });
    open.push(sim);
    const [node] = sim.nodes;
    if (node) node.logLimits = { maxBlocks: 10_000, text: mute };
    const first = await query(sim, 1, 100_000);
    expect(first.blocks).toEqual(numbers(1, 100_000));
    const second = await query(sim, 1, 100_000);
    expect([second.refused, second.requests]).toEqual([0, 10]);
  });

  test("a limit of results splits where it is met, and not again on a later run", async () => {
    const sim = simulate({ head: HEAD, dependencies: { cacheMaxBytes: 0 } });
    open.push(sim);
    const [node] = sim.nodes;
    if (node) node.logLimits = { maxResults: 10_000 };
    expect(blocksOf(await sim.ask("eth_getLogs", [range(1, 100_000)]))).toEqual(
      numbers(1, 100_000),
    );
    let refused = 0;
    if (node) {
      node.override = (_, [filter]) => {
        const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string };
        if (Number(toBlock) - Number(fromBlock) >= 10_000) refused++;
        return undefined;
      };
    }
    expect(blocksOf(await sim.ask("eth_getLogs", [range(1, 100_000)]))).toEqual(
      numbers(1, 100_000),
    );
    expect(refused).toBe(0);
  });

  test("one block with more logs than any node returns is a permanent error, after few requests", async () => {
    const sim = simulate({ head: HEAD });
    open.push(sim);
    const [node] = sim.nodes;
    if (node) {
      node.override = (method) =>
        method === "eth_getLogs"
          ? new RpcFailure(-32_005, "query returned more than 10000 results")
          : undefined;
    }
    const asked = sim.ask("eth_getLogs", [range(100, 107)]);
    await expect(asked).rejects.toThrow("-32602 block 100 holds more matching logs");
    expect(sim.count("eth_getLogs")).toBeLessThanOrEqual(15);
  });
});

describe("what is not split", () => {
  test("a blockHash filter, an upside-down range, and what fits travel as they were written", async () => {
    const sim = threeCaps();
    await ready(sim);
    const filters = [
      { blockHash: sim.chain.hash(5) },
      range(10, 5),
      { fromBlock: "0x00a", toBlock: "0x0f", address: `0x${"AB".repeat(20)}` },
      { fromBlock: "latest" },
    ];
    for (const filter of filters) await sim.ask("eth_getLogs", [filter]);
    const sent = sim.nodes
      .flatMap(({ calls }) => calls)
      .filter(({ method }) => method === "eth_getLogs");
    expect(sent.map(({ params }) => params[0])).toEqual(expect.arrayContaining(filters));
    expect(sent.length).toBe(filters.length);
  });

  test("a node's error about the filter itself reaches the caller", async () => {
    const sim = threeCaps();
    for (const node of sim.nodes) {
      node.override = (method) =>
        method === "eth_getLogs"
          ? new RpcFailure(-32_602, "invalid argument 0: topics")
          : undefined;
    }
    await expect(sim.ask("eth_getLogs", [range(1, 50_000)])).rejects.toThrow(
      "-32602 invalid argument",
    );
  });

  test("an end far beyond the head asks for the blocks there are", async () => {
    const sim = threeCaps();
    await ready(sim);
    const filter = { fromBlock: hex(HEAD - 24_999), toBlock: "0xffffffffff" };
    expect(blocksOf(await sim.ask("eth_getLogs", [filter]))).toEqual(numbers(HEAD - 24_999, HEAD));
  });
});

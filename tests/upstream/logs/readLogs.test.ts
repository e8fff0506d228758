import { afterEach, describe, expect, test } from "bun:test";
import {
  hex,
  RpcFailure,
  simulate,
  type Simulation,
  type SimulationOptions,
} from "../reads/simulated.ts";
import { blocksOf, HEAD, mute, numbers, query, range, ready, threeCaps } from "./threeCaps.ts";

let open: Simulation[] = [];
afterEach(() => {
  for (const { pool } of open) pool.close();
  open = [];
});

/** As `threeCaps`, closed after the test. */
function caps(options?: SimulationOptions, text?: (max: number) => string): Simulation {
  const sim = threeCaps(options, text);
  open.push(sim);
  return sim;
}

describe("100,000 blocks over limits of 1,000, 2,000 and 10,000", () => {
  /** At 10,000 blocks each. */
  const minimal = 10;

  test("limits that are named: at most 1.2 times the minimal requests from the first run on", async () => {
    for (let seed = 1; seed <= 4; seed++) {
      const sim = caps({ seed, dependencies: { cacheMaxBytes: 0 } });
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
      const sim = caps({ seed, dependencies: { cacheMaxBytes: 0 } }, mute);
      await ready(sim);
      const first = await query(sim, 50_001, 150_000);
      expect(first.blocks).toEqual(numbers(50_001, 150_000));
      expect(first.requests).toBeLessThanOrEqual(1.3 * minimal);
      const second = await query(sim, 50_001, 150_000);
      expect([second.requests, second.refused]).toEqual([minimal, 0]);
    }
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
    const sim = caps();
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
    const sim = caps();
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
    const sim = caps();
    await ready(sim);
    const filter = { fromBlock: hex(HEAD - 24_999), toBlock: "0xffffffffff" };
    expect(blocksOf(await sim.ask("eth_getLogs", [filter]))).toEqual(numbers(HEAD - 24_999, HEAD));
  });
});

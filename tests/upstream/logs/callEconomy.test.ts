import { afterEach, describe, expect, test } from "bun:test";
import type { LogCap, LogCapStore } from "../../../src/db/index.ts";
import { RpcFailure, type Simulation, type SimulationOptions } from "../reads/simulated.ts";
import { mute, query, range, ready, threeCaps } from "./threeCaps.ts";

/** 100,000 blocks at 10,000 each. */
const MINIMAL = 10;
const SEEDS = 200;
const FAULT_RATE = 0.05;

let open: Simulation[] = [];
afterEach(() => {
  for (const { pool } of open) pool.close();
  open = [];
});

/** Three nodes of different limits; every hundredth block has a log, so that many runs take no time. */
async function nodes(
  options: SimulationOptions,
  { faultRate = 0, text }: { faultRate?: number; text?: (max: number) => string } = {},
): Promise<Simulation> {
  const sim = threeCaps(options, text);
  open.push(sim);
  sim.chain.logEvery = 100;
  for (const node of sim.nodes) node.faultRate = faultRate;
  await ready(sim);
  return sim;
}

const everyHundredth = Array.from({ length: 1_000 }, (_, index) => 50_100 + index * 100);
type Result = Awaited<ReturnType<typeof query>>;

function storeInMemory(): LogCapStore {
  const caps = new Map<string, LogCap>();
  return { list: () => [...caps.values()], save: (cap) => void caps.set(cap.upstream, cap) };
}

/** A first query, and one of another process, which knows only what is in the database. */
async function runTwice(
  seed: number,
  text?: (max: number) => string,
): Promise<[first: Result, second: Result]> {
  const dependencies = { logCaps: storeInMemory(), cacheMaxBytes: 0 };
  const options = { faultRate: FAULT_RATE, ...(text && { text }) };
  const first = await nodes({ seed, dependencies }, options);
  const second = await nodes({ seed: seed + 1_000, dependencies }, options);
  const results: [Result, Result] = [
    await query(first, 50_001, 150_000),
    await query(second, 50_001, 150_000),
  ];
  first.pool.close();
  second.pool.close();
  return results;
}

const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

describe("100,000 blocks over limits of 1,000, 2,000 and 10,000 with 5 % faults", () => {
  test.each([
    // The first node refuses and is known; of the other two, at most one refuses as well.
    ["named", undefined, 2, 12],
    // A node that refuses a whole range in silence has told nothing: one, two or three refuse.
    ["not named", mute, 3, 13],
  ] as const)(
    "limits that are %s: every log once, each fault costs one request, and later runs meet no refusal",
    async (_, text, maxRefused, maxMean) => {
      const totals: { first: number[]; second: number[] } = { first: [], second: [] };
      for (let seed = 1; seed <= SEEDS; seed++) {
        const [first, second] = await runTwice(seed, text);
        expect(first.blocks).toEqual(everyHundredth);
        expect(second.blocks).toEqual(everyHundredth);
        expect([seed, first.requests - first.faults - first.refused]).toEqual([seed, MINIMAL]);
        expect([seed, second.requests - second.faults, second.refused]).toEqual([seed, MINIMAL, 0]);
        expect(first.refused).toBeLessThanOrEqual(maxRefused);
        const most = (1 + maxRefused / MINIMAL) * (MINIMAL + first.faults);
        expect(first.requests).toBeLessThanOrEqual(most);
        totals.first.push(first.requests);
        totals.second.push(second.requests);
      }
      expect(mean(totals.first)).toBeLessThanOrEqual(maxMean);
      expect(mean(totals.second)).toBeLessThanOrEqual(1.1 * MINIMAL);
    },
    60_000,
  );
});

test("a process that has just started waits for the first look at the node it knows to take most", async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const dependencies = { logCaps: storeInMemory(), cacheMaxBytes: 0 };
    const first = await nodes({ seed, dependencies });
    await query(first, 50_001, 150_000);
    const later = threeCaps({ seed: seed + 1_000, dependencies });
    open.push(later);
    later.chain.logEvery = 100;
    const { requests, refused } = await query(later, 50_001, 150_000);
    expect([seed, requests, refused]).toEqual([seed, MINIMAL, 0]);
  }
});

/** Nodes whose limits are known, and the largest of them. */
async function known(): Promise<{ sim: Simulation; large: Simulation["nodes"][number] }> {
  const sim = await nodes({ dependencies: { cacheMaxBytes: 0 } });
  for (const size of [5_000, 100_000]) await query(sim, 50_001, 50_000 + size);
  const [, , large] = sim.nodes;
  if (!large) throw new Error("no third node");
  return { sim, large };
}

describe("the node of the largest limit", () => {
  test.each([1, 4, 8])(
    "fails three times in a row after %d pieces: the rest waits for its return",
    async (pieces) => {
      const { sim, large } = await known();
      let answered = 0;
      large.override = (method) => {
        if (method !== "eth_getLogs") return undefined;
        answered++;
        const fails = answered > pieces && answered <= pieces + 3;
        return fails ? new RpcFailure(-32_603, "internal error") : undefined;
      };
      const { blocks, requests } = await query(sim, 50_001, 150_000);
      expect(blocks).toEqual(everyHundredth);
      expect(requests).toBe(MINIMAL + 3);
    },
  );

  test("dies half-way: what is left is asked of the others", async () => {
    const { sim, large } = await known();
    let answered = 0;
    large.override = (method) => {
      if (method === "eth_getLogs") answered++;
      if (answered > 4) throw new Error("connection reset");
      return undefined;
    };
    const { blocks } = await query(sim, 50_001, 150_000);
    expect(blocks).toEqual(everyHundredth);
  });

  test("answers the watch and no call: it is waited for once", async () => {
    const { sim, large } = await known();
    large.faultRate = 1;
    const { blocks, requests, faults } = await query(sim, 50_001, 150_000);
    expect(blocks).toEqual(everyHundredth);
    // At 2,000 blocks each; whoever's limit is unknown yet may refuse once.
    expect(requests - faults).toBeLessThanOrEqual(50 + 2);
    expect(faults).toBeLessThan(20);
  });

  test("refuses for pace for long: the others are asked meanwhile", async () => {
    const { sim, large } = await known();
    large.override = (method) =>
      method === "eth_getLogs" ? new RpcFailure(429, "daily request limit reached") : undefined;
    const first = await query(sim, 50_001, 150_000);
    expect(first.blocks).toEqual(everyHundredth);
    const heldMs = sim.pool.status()[2]?.pace.heldMs ?? 0;
    expect(heldMs).toBeGreaterThan(1_000);
    const startMs = performance.now();
    await sim.ask("eth_getLogs", [range(50_001, 150_000)]);
    expect(performance.now() - startMs).toBeLessThan(heldMs / 2);
  });
});

import { afterAll, describe, expect, test } from "bun:test";
import {
  type Fault,
  faults,
  goodPrices,
  type Mode,
  type Modes,
  sourceIds,
  startFeeds,
} from "./feeds.ts";
import { codeOf, ManualClock, pricesOver } from "./support.ts";

const clock = new ManualClock();
const feeds = startFeeds(clock);
afterAll(() => feeds.stop());

const assets = ["USDC", "EURC", "USDT"] as const;

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** The median of the sources without a fault; DefiLlama counts only in CoinGecko's place. */
function expected(modes: Modes): Record<string, number> {
  const working = sourceIds.filter((id) => (modes[id] ?? "good") === "good");
  const hasCoinGecko = ["good", "high", "low"].includes(modes.coingecko ?? "good");
  const used = working.filter((id) => id !== "defillama" || !hasCoinGecko);
  return Object.fromEntries(
    assets.map((asset) => {
      const values = used.flatMap((id) => Number(goodPrices[id][asset] ?? []) || []);
      return [asset, median(values)];
    }),
  );
}

/** Sorts those that wait for the deadline last, so that they wait together. */
const waits = (modes: Modes) => Number(Object.values(modes).includes("timeout"));

function combinations(kinds: readonly Mode[]): Modes[] {
  const all: Modes[] = [{}];
  for (const [index, first] of sourceIds.entries()) {
    for (const fault of kinds) {
      all.push({ [first]: fault });
      for (const second of sourceIds.slice(index + 1)) {
        for (const other of kinds) all.push({ [first]: fault, [second]: other });
      }
    }
  }
  return all.toSorted((a, b) => waits(a) - waits(b));
}

/** What is wrong with the answer under these modes; undefined when nothing is. */
async function check(modes: Modes): Promise<string | undefined> {
  const service = pricesOver(feeds, modes, clock, { timeoutMs: 1_000 });
  const got = await codeOf(service.current());
  const name = JSON.stringify(modes);
  if (typeof got === "string") return `${name}: ${got}`;
  for (const [asset, usd] of Object.entries(expected(modes))) {
    const answered = got.prices[asset]?.usd ?? 0;
    if (Math.abs(answered - usd) > 1e-12) return `${name}: ${asset} ${answered}, not ${usd}`;
  }
  const faulty = got.sourceIds.find((id) => modes[id as keyof Modes] !== undefined);
  return faulty === undefined ? undefined : `${name}: used ${faulty}`;
}

async function checkAll(all: readonly Modes[], atOnce: number): Promise<(string | undefined)[]> {
  const wrong: (string | undefined)[] = [];
  for (let i = 0; i < all.length; i += atOnce) {
    wrong.push(...(await Promise.all(all.slice(i, i + atOnce).map(check))));
  }
  return wrong.filter((text) => text !== undefined);
}

describe("faulty sources", () => {
  test("every combination of up to two faulty sources gives the median of the others", async () => {
    const all = combinations(faults);
    const pairs = (sourceIds.length * (sourceIds.length - 1)) / 2;
    expect(all.length).toBe(1 + sourceIds.length * faults.length + pairs * faults.length ** 2);
    expect(await checkAll(all, 80)).toEqual([]);
  }, 180_000);

  test("one source that lies within the bounds is dropped against this round's median", async () => {
    const liars = sourceIds.filter((id) => id !== "defillama");
    const all = liars.flatMap((id): Modes[] => [{ [id]: "high" }, { [id]: "low" }]);
    expect(await checkAll(all, 40)).toEqual([]);
  });

  test("two that lie in opposite directions are dropped both", async () => {
    const liars = sourceIds.filter((id) => id !== "defillama");
    const all = liars.flatMap((high) =>
      liars.filter((low) => low !== high).map((low): Modes => ({ [high]: "high", [low]: "low" })),
    );
    expect(await checkAll(all, 40)).toEqual([]);
  });

  test("a market that moves in all sources is followed, not taken for an outlier", async () => {
    const modes = Object.fromEntries(sourceIds.map((id) => [id, "low"])) as Modes;
    const { prices } = await pricesOver(feeds, modes, clock).current();
    expect(prices["USDT"]?.usd).toBeCloseTo(0.95028, 4);
  });

  test("a depeg that most sources show is followed; the one that lags is dropped", async () => {
    const modes = { coingecko: "low", kraken: "low", chainlink: "low", bitstamp: "low" } as const;
    const { prices, sourceIds: used } = await pricesOver(feeds, modes, clock).current();
    expect(prices["USDC"]?.usd).toBeCloseTo(0.9498, 3);
    expect(prices["USDT"]?.usd).toBeCloseTo(0.9503, 3);
    expect(used).not.toContain("coinbase");
  });

  test("no faulty source can hide another: each fault alone names the rest as sources", async () => {
    for (const fault of faults.filter((one): one is Fault => one !== "timeout")) {
      const service = pricesOver(feeds, { kraken: fault }, clock);
      const { sourceIds: used } = await service.current();
      expect(used).toEqual(["coingecko", "coinbase", "chainlink", "bitstamp"]);
    }
  });

  test("a source derived from another counts only while that one has no price", async () => {
    const { sourceIds: used } = await pricesOver(feeds, { coingecko: "stale" }, clock).current();
    expect(used).toEqual(
      ["coinbase", "kraken", "chainlink", "bitstamp", "defillama"].filter((id) =>
        used.includes(id),
      ),
    );
    expect(used).toContain("defillama");
    expect((await pricesOver(feeds, {}, clock).current()).sourceIds).not.toContain("defillama");
  });
});

import { afterAll, describe, expect, test } from "bun:test";
import type { PriceAnswer } from "../../src/prices/service.ts";
import {
  type Fault,
  faults,
  goodPrices,
  type Mode,
  type SourceId,
  sourceIds,
  startFeeds,
} from "./feeds.ts";
import { codeOf, ManualClock, pricesOver } from "./support.ts";

const clock = new ManualClock();
const feeds = startFeeds(clock);
afterAll(() => feeds.stop());

const assets = ["USDC", "EURC", "USDT"] as const;
type Modes = Partial<Record<SourceId, Mode>>;

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** The median of the sources without a fault, or undefined where an asset has none. */
function expected(modes: Modes): Record<string, number> | undefined {
  const prices: Record<string, number> = {};
  for (const asset of assets) {
    const working = sourceIds.filter((id) => (modes[id] ?? "good") === "good");
    const values = working.flatMap((id) => Number(goodPrices[id][asset] ?? []) || []);
    if (values.length === 0) return undefined;
    prices[asset] = median(values);
  }
  return prices;
}

function combinations(): Modes[] {
  const all: Modes[] = [{}];
  for (const [index, first] of sourceIds.entries()) {
    for (const fault of faults) {
      all.push({ [first]: fault });
      for (const second of sourceIds.slice(index + 1)) {
        for (const other of faults) all.push({ [first]: fault, [second]: other });
      }
    }
  }
  // Those that wait for the deadline last, so that they wait together.
  const waits = (modes: Modes) => Number(Object.values(modes).includes("timeout"));
  return all.toSorted((a, b) => waits(a) - waits(b));
}

async function check(modes: Modes): Promise<string | undefined> {
  const service = pricesOver(feeds.baseUrls(modes), clock, { timeoutMs: 1_000 });
  const got = await codeOf(service.current());
  const want = expected(modes);
  const name = JSON.stringify(modes);
  if (want === undefined || typeof got === "string") {
    return want === undefined && got === "PRICE_FEED_UNREACHABLE" ? undefined : `${name}: ${got}`;
  }
  const { prices, sourceIds: used } = got as PriceAnswer;
  for (const asset of assets) {
    if (Math.abs(prices[asset].usd - want[asset]!) > 1e-12)
      return `${name}: ${asset} ${prices[asset].usd}`;
  }
  const faulty = used.find((id) => modes[id as SourceId] !== undefined);
  return faulty === undefined ? undefined : `${name}: used ${faulty}`;
}

describe("faulty sources", () => {
  test("every combination of up to two faulty sources gives the median of the others, or 502", async () => {
    const all = combinations();
    expect(all.length).toBe(1 + 3 * faults.length + 3 * faults.length ** 2);
    const wrong: (string | undefined)[] = [];
    for (let i = 0; i < all.length; i += 60) {
      wrong.push(...(await Promise.all(all.slice(i, i + 60).map(check))));
    }
    expect(wrong.filter((text) => text !== undefined)).toEqual([]);
  }, 60_000);

  test("an in-band outlier is dropped against this round's median", async () => {
    for (const mode of ["high", "low"] as const) {
      const service = pricesOver(feeds.baseUrls({ coinbase: mode }), clock);
      const { prices, sourceIds: used } = await service.current();
      expect(prices.EURC.usd).toBe(1.156);
      expect(used).not.toContain("coinbase");
    }
  });

  test("a market that moves in all sources is followed, not taken for an outlier", async () => {
    const modes = { coingecko: "low", coinbase: "low", kraken: "low" } as const;
    const { prices } = await pricesOver(feeds.baseUrls(modes), clock).current();
    expect(prices.USDT.usd).toBeCloseTo(0.95019, 6);
  });

  test("no faulty source can hide another: each fault alone names the rest as sources", async () => {
    for (const fault of faults.filter((one): one is Fault => one !== "timeout")) {
      const service = pricesOver(feeds.baseUrls({ coingecko: fault }), clock);
      expect((await service.current()).sourceIds).toEqual(["coinbase", "kraken"]);
    }
  });
});

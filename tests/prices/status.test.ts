import { afterAll, expect, test } from "bun:test";
import { createMetrics, observePrices } from "../../src/telemetry/index.ts";
import { type Modes, startFeeds } from "./feeds.ts";
import { ManualClock, pricesOver } from "./support.ts";

const clock = new ManualClock();
const feeds = startFeeds(clock);
afterAll(() => feeds.stop());

test("the status tells every source's health, its last failure, and each price's spread", async () => {
  const service = pricesOver(feeds, { kraken: "429", coinbase: "500" }, clock);
  expect(service.status().sources.map(({ state }) => state)).toContain("new");
  await service.current();
  const { assets, sources } = service.status();
  const byId = Object.fromEntries(sources.map((source) => [source.id, source]));
  expect(byId["coingecko"]).toMatchObject({ state: "answering", kind: "aggregator", answers: 1 });
  expect(byId["coinbase"]).toMatchObject({ state: "failing", failure: "HTTP 500", failures: 1 });
  expect(byId["kraken"]).toMatchObject({ state: "resting", failure: "HTTP 429" });
  const usdc = assets.find(({ symbol }) => symbol === "USDC");
  // 0.9996 to 0.9999 around 0.9998.
  expect(usdc?.spreadBps).toBeCloseTo(3, 1);
});

test("spread, age, sources and health are in the metrics", async () => {
  const modes: Modes = { chainlink: "high" };
  const service = pricesOver(feeds, modes, clock);
  const metrics = createMetrics();
  observePrices(metrics, service.status, clock.now);
  await service.current();
  clock.advance(9_000);
  const text = await metrics.render();
  expect(text).toContain('causeway_price_usd{asset="EURC"} 1.1561');
  expect(Number(/causeway_price_spread_bps\{asset="EURC"\} (.+)/.exec(text)?.[1])).toBeGreaterThan(
    490,
  );
  expect(text).toContain('causeway_price_sources{asset="USDC"} 3');
  expect(text).toContain('causeway_price_age_seconds{asset="USDC"} 10');
  expect(text).toContain('causeway_price_source_up{source="chainlink"} 1');
  expect(text).toContain('causeway_price_source_failures{source="kraken"} 0');
});

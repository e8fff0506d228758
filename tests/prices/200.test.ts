import { afterAll, describe, expect, test } from "bun:test";
import { ManualClock, askEndpoint, pricesOver } from "./support.ts";
import { ROUND_REQUESTS, startFeeds } from "./feeds.ts";

const clock = new ManualClock();
const feeds = startFeeds(clock);
afterAll(() => feeds.stop());

describe("GET /api/public/prices, 200", () => {
  test("the body is exactly the prices object, each the median of its sources", async () => {
    const response = await askEndpoint(pricesOver(feeds, {}, clock));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain("application/json");
    expect(await response.json()).toEqual({
      USDC: { usd: 0.99975 },
      EURC: { usd: 1.15615 },
      USDT: { usd: 1.0003 },
    });
  });

  test("X-RateLimit headers come with the answer", async () => {
    const { headers } = await askEndpoint(pricesOver(feeds, {}, clock));
    for (const name of ["limit", "remaining"]) {
      expect(headers.get(`x-ratelimit-${name}`)).toMatch(/^[0-9]+$/);
    }
    expect(headers.get("x-cu-cost")).toBe("1");
  });

  test("headers name the sources used and the time of the oldest reading", async () => {
    const response = await askEndpoint(pricesOver(feeds, { coinbase: "500" }, clock));
    expect(response.headers.get("x-price-sources")).toBe("coingecko, kraken, chainlink, bitstamp");
    const oldest = Math.floor((clock.now() - 1_000) / 1_000) * 1_000;
    expect(response.headers.get("x-price-as-of")).toBe(new Date(oldest).toISOString());
  });

  test("a hundred callers of a cold service share one round", async () => {
    const before = feeds.seen.length;
    const service = pricesOver(feeds, {}, clock);
    const answers = await Promise.all(Array.from({ length: 100 }, () => service.current()));
    expect(new Set(answers).size).toBe(1);
    expect(feeds.seen.length - before).toBe(ROUND_REQUESTS);
  });
});

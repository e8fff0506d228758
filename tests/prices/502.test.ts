import { afterAll, describe, expect, test } from "bun:test";
import { codeOf, ManualClock, askEndpoint, pricesOver } from "./support.ts";
import { startFeeds } from "./feeds.ts";

const clock = new ManualClock();
const feeds = startFeeds(clock);
afterAll(() => feeds.stop());

describe("GET /api/public/prices, 502", () => {
  test("no source answering is 502 with the contract's message", async () => {
    const modes = { coingecko: "500", coinbase: "429", kraken: "error-200" } as const;
    const response = await askEndpoint(pricesOver(feeds.baseUrls(modes), clock));
    expect(response.status).toBe(502);
    expect(response.headers.get("x-error-code")).toBe("PRICE_FEED_UNREACHABLE");
    expect(await response.json()).toEqual({
      success: false,
      error: "Failed to reach upstream pricing feed",
    });
  });

  test("one asset without a price is 502, since the object has all three keys", async () => {
    const modes = { coingecko: "500", kraken: "500" } as const;
    const service = pricesOver(feeds.baseUrls(modes), clock);
    expect(await codeOf(service.current())).toBe("PRICE_FEED_UNREACHABLE");
  });

  test("sources that disagree without a majority give no price rather than a wrong one", async () => {
    const modes = { coingecko: "high", coinbase: "good", kraken: "low" } as const;
    const service = pricesOver(feeds.baseUrls(modes), clock);
    expect(await codeOf(service.current())).toBe("PRICE_FEED_UNREACHABLE");
  });

  test("feeds that never answer are given up at the deadline", async () => {
    const modes = { coingecko: "timeout", coinbase: "timeout", kraken: "timeout" } as const;
    const service = pricesOver(feeds.baseUrls(modes), clock, { timeoutMs: 100 });
    const started = performance.now();
    expect(await codeOf(service.current())).toBe("PRICE_FEED_UNREACHABLE");
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  test("while nothing can be served, feeds are asked at most once a second", async () => {
    const modes = { coingecko: "500", coinbase: "500", kraken: "500" } as const;
    const service = pricesOver(feeds.baseUrls(modes), clock);
    const before = feeds.seen.length;
    for (let i = 0; i < 20; i++) await codeOf(service.current());
    expect(feeds.seen.length - before).toBe(4);
    clock.advance(1_000);
    await codeOf(service.current());
    expect(feeds.seen.length - before).toBe(8);
  });
});

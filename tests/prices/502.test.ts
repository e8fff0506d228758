import { afterAll, describe, expect, test } from "bun:test";
import { codeOf, ManualClock, askEndpoint, pricesOver } from "./support.ts";
import { type Mode, type Modes, ROUND_REQUESTS, sourceIds, startFeeds } from "./feeds.ts";

const clock = new ManualClock();
const feeds = startFeeds(clock);
afterAll(() => feeds.stop());

const all = (mode: Mode): Modes => Object.fromEntries(sourceIds.map((id) => [id, mode]));

describe("GET /api/public/prices, 502", () => {
  test("no source answering is 502 with the contract's message", async () => {
    const modes: Modes = { ...all("500"), coinbase: "429", kraken: "error-200" };
    const response = await askEndpoint(pricesOver(feeds, modes, clock));
    expect(response.status).toBe(502);
    expect(response.headers.get("x-error-code")).toBe("PRICE_FEED_UNREACHABLE");
    expect(await response.json()).toEqual({
      success: false,
      error: "Failed to reach upstream pricing feed",
    });
  });

  test("one asset without a price is 502, since the object has all three keys", async () => {
    const modes: Modes = { ...all("500"), coinbase: "good" };
    const service = pricesOver(feeds, modes, clock);
    expect(await codeOf(service.current())).toBe("PRICE_FEED_UNREACHABLE");
  });

  test("sources that disagree without a majority give no price rather than a wrong one", async () => {
    const modes: Modes = { ...all("500"), coingecko: "high", coinbase: "good", kraken: "low" };
    const service = pricesOver(feeds, modes, clock);
    expect(await codeOf(service.current())).toBe("PRICE_FEED_UNREACHABLE");
  });

  test("feeds that never answer are given up at the deadline", async () => {
    const modes = all("timeout");
    const service = pricesOver(feeds, modes, clock, { timeoutMs: 100 });
    const started = performance.now();
    expect(await codeOf(service.current())).toBe("PRICE_FEED_UNREACHABLE");
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  test("while nothing can be served, feeds are asked at most once a second", async () => {
    const modes = all("500");
    const service = pricesOver(feeds, modes, clock);
    const before = feeds.seen.length;
    for (let i = 0; i < 20; i++) await codeOf(service.current());
    expect(feeds.seen.length - before).toBe(ROUND_REQUESTS);
    clock.advance(1_000);
    await codeOf(service.current());
    expect(feeds.seen.length - before).toBe(2 * ROUND_REQUESTS);
  });
});

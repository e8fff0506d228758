import { afterAll, describe, expect, test } from "bun:test";
import { startFeeds } from "./feeds.ts";
import { codeOf, ManualClock, pricesOver } from "./support.ts";

const clock = new ManualClock();
const feeds = startFeeds(clock);
afterAll(() => feeds.stop());

/** Base URLs that can be changed under a running service, as a feed that breaks does. */
function switchable() {
  return { ...feeds.baseUrls({}) };
}
const allDown = { coingecko: "500", coinbase: "500", kraken: "500" } as const;

/** Resolves once the feeds have seen `count` more requests. */
function requestsSeen(count: number): Promise<void> {
  const until = feeds.seen.length + count;
  return new Promise((resolve) => {
    feeds.onRequest = () => {
      if (feeds.seen.length >= until) resolve();
    };
  });
}

describe("answers from memory", () => {
  test("no feed is asked again before the refresh interval", async () => {
    const service = pricesOver(switchable(), clock);
    const first = await service.current();
    const before = feeds.seen.length;
    clock.advance(14_999);
    expect(await service.current()).toBe(first);
    expect(feeds.seen.length).toBe(before);
  });

  test("after it, the caller gets memory's answer at once and one round runs behind", async () => {
    const service = pricesOver(switchable(), clock);
    const first = await service.current();
    clock.advance(15_000);
    const renewed = requestsSeen(4);
    expect(await service.current()).toBe(first);
    expect(await service.current()).toBe(first);
    await renewed;
  });

  test("prices outlive a failing round for five minutes and no longer", async () => {
    const baseUrls = switchable();
    const service = pricesOver(baseUrls, clock);
    const first = await service.current();
    Object.assign(baseUrls, feeds.baseUrls(allDown));
    clock.advance(299_000);
    const failing = requestsSeen(4);
    expect((await service.current()).prices).toEqual(first.prices);
    await failing;
    clock.advance(2_000);
    expect(await codeOf(service.current())).toBe("PRICE_FEED_UNREACHABLE");
  });

  test("a service that recovers serves again", async () => {
    const baseUrls = { ...feeds.baseUrls(allDown) };
    const service = pricesOver(baseUrls, clock);
    expect(await codeOf(service.current())).toBe("PRICE_FEED_UNREACHABLE");
    Object.assign(baseUrls, feeds.baseUrls({}));
    clock.advance(1_000);
    expect((await service.current()).prices.USDC.usd).toBe(0.99975);
  });
});

describe("breaker", () => {
  test("three failures in a row keep a source from being asked for 30 s, then one trial", async () => {
    const service = pricesOver(feeds.baseUrls(allDown), clock);
    const round = async (ms: number) => {
      clock.advance(ms);
      const before = feeds.seen.length;
      await codeOf(service.current());
      return feeds.seen.length - before;
    };
    expect([await round(0), await round(1_000), await round(1_000)]).toEqual([4, 4, 4]);
    expect([await round(1_000), await round(28_000)]).toEqual([0, 0]);
    expect([await round(1_000), await round(1_000), await round(30_000)]).toEqual([4, 0, 4]);
  });

  test("Retry-After is honoured from the first refusal", async () => {
    const service = pricesOver(feeds.baseUrls({ ...allDown, kraken: "429" }), clock);
    const askedKraken = async (ms: number) => {
      clock.advance(ms);
      const before = feeds.seen.length;
      await codeOf(service.current());
      return feeds.seen.slice(before).includes("kraken 429");
    };
    expect([await askedKraken(0), await askedKraken(60_000), await askedKraken(59_999)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(await askedKraken(1_000)).toBe(true);
  });
});

describe("background refresh", () => {
  test("it runs while prices are asked for, and stop ends it", async () => {
    const ticking = pricesOver(feeds.baseUrls({}), systemLike(), { refreshMs: 20 });
    await ticking.current();
    const renewed = requestsSeen(8);
    ticking.start();
    await renewed;
    ticking.stop();
  });

  test("it does not run when nobody has asked yet", async () => {
    const idle = pricesOver(feeds.baseUrls({}), clock, { refreshMs: 5 });
    const busy = pricesOver(feeds.baseUrls({ coinbase: "high" }), systemLike(), { refreshMs: 20 });
    feeds.seen.length = 0;
    idle.start();
    await busy.current();
    const renewed = requestsSeen(12);
    busy.start();
    await renewed;
    idle.stop();
    busy.stop();
    expect(feeds.seen).not.toContain("coinbase good");
  });
});

/** Real monotonic time, with the feeds' own wall clock. */
function systemLike() {
  return { now: clock.now, monotonic: () => performance.now(), sleep: clock.sleep };
}

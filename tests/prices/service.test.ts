import { afterAll, describe, expect, test } from "bun:test";
import { type Mode, type Modes, ROUND_REQUESTS, sourceIds, startFeeds } from "./feeds.ts";
import { codeOf, ManualClock, pricesOver } from "./support.ts";

const clock = new ManualClock();
const feeds = startFeeds(clock);
afterAll(() => feeds.stop());

const all = (mode: Mode): Modes => Object.fromEntries(sourceIds.map((id) => [id, mode]));
const allDown = all("500");

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
    const service = pricesOver(feeds, {}, clock);
    const first = await service.current();
    const before = feeds.seen.length;
    clock.advance(14_999);
    expect(await service.current()).toBe(first);
    expect(feeds.seen.length).toBe(before);
  });

  test("ten thousand requests within an interval send nothing and share one answer", async () => {
    const service = pricesOver(feeds, {}, clock);
    const first = await service.current();
    const before = feeds.seen.length;
    for (let i = 0; i < 10_000; i++) expect(service.current()).toBe(first);
    expect(feeds.seen.length).toBe(before);
  });

  test("after it, the caller gets memory's answer at once and one round runs behind", async () => {
    const service = pricesOver(feeds, {}, clock);
    const first = await service.current();
    clock.advance(15_000);
    const renewed = requestsSeen(ROUND_REQUESTS);
    expect(await service.current()).toBe(first);
    expect(await service.current()).toBe(first);
    await renewed;
  });

  test("prices outlive a failing round for five minutes and no longer", async () => {
    const modes: Modes = {};
    const service = pricesOver(feeds, modes, clock);
    const first = await service.current();
    Object.assign(modes, allDown);
    clock.advance(299_000);
    const failing = requestsSeen(ROUND_REQUESTS);
    expect((await service.current()).prices).toEqual(first.prices);
    await failing;
    clock.advance(2_000);
    expect(await codeOf(service.current())).toBe("PRICE_FEED_UNREACHABLE");
  });

  test("a service that recovers serves again", async () => {
    const modes: Modes = { ...allDown };
    const service = pricesOver(feeds, modes, clock);
    expect(await codeOf(service.current())).toBe("PRICE_FEED_UNREACHABLE");
    Object.assign(modes, all("good"));
    clock.advance(1_000);
    expect((await service.current()).prices["USDC"]?.usd).toBe(0.99975);
  });
});

describe("outage of all sources", () => {
  test("however long it lasts, prices are back within one refresh of its end", async () => {
    const modes: Modes = { ...allDown };
    const service = pricesOver(feeds, modes, clock);
    for (let seconds = 0; seconds < 100; seconds++) {
      expect(await codeOf(service.current())).toBe("PRICE_FEED_UNREACHABLE");
      clock.advance(1_000);
    }
    Object.assign(modes, all("good"));
    let waitedMs = 0;
    for (; (await codeOf(service.current())) === "PRICE_FEED_UNREACHABLE"; waitedMs += 1_000) {
      clock.advance(1_000);
    }
    expect(waitedMs).toBeLessThanOrEqual(15_000);
  });
});

describe("breaker", () => {
  test("three failures in a row keep a source from being asked for 30 s, then one trial", async () => {
    const service = pricesOver(feeds, allDown, clock, { refreshMs: 1_000_000 });
    const round = async (ms: number) => {
      clock.advance(ms);
      const before = feeds.seen.length;
      await codeOf(service.current());
      return feeds.seen.length - before;
    };
    expect([await round(0), await round(1_000), await round(1_000)]).toEqual(
      Array(3).fill(ROUND_REQUESTS),
    );
    expect([await round(1_000), await round(28_000)]).toEqual([0, 0]);
    expect([await round(1_000), await round(1_000), await round(30_000)]).toEqual([
      ROUND_REQUESTS,
      0,
      ROUND_REQUESTS,
    ]);
  });

  test("Retry-After is honoured from the first refusal", async () => {
    const service = pricesOver(feeds, { ...allDown, kraken: "429" }, clock);
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
    const ticking = pricesOver(feeds, {}, systemLike(), { refreshMs: 20 });
    await ticking.current();
    const renewed = requestsSeen(2 * ROUND_REQUESTS);
    ticking.start();
    await renewed;
    ticking.stop();
  });

  test("it does not run when nobody has asked yet", async () => {
    const idle = pricesOver(feeds, {}, clock, { refreshMs: 5 });
    const busy = pricesOver(feeds, { coinbase: "high" }, systemLike(), { refreshMs: 20 });
    feeds.seen.length = 0;
    idle.start();
    await busy.current();
    const renewed = requestsSeen(3 * ROUND_REQUESTS);
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

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { createRedisWindow, type RedisWindow, shareOf } from "../../src/access/redisWindow.ts";
import { createRedisLink, type RedisLink } from "../../src/db/index.ts";
import { seededRandom, systemClock } from "../../src/lib/clock.ts";
import { describeWithServers, hasStorageServers } from "../support/installed.ts";
import { newRedis } from "../support/storage.ts";
import type { StorageServer } from "../support/storageServers.ts";

const WINDOW_MS = 60_000;
const REPLICAS = 3;

let redis: StorageServer;
let links: RedisLink[];
let current: readonly RedisWindow[] = [];
beforeAll(async () => {
  if (!hasStorageServers) return;
  redis = await newRedis();
  links = Array.from({ length: REPLICAS }, (_, rank) =>
    createRedisLink({ url: redis.url, onChange: (isUp) => isUp && current[rank]?.resume() }),
  );
  await Promise.all(links.map((link) => link.start()));
}, 60_000);
afterAll(async () => {
  if (!hasStorageServers) return;
  for (const link of links) link.close();
  await redis.kill();
});

let changes: string[];
let locals: number;
beforeEach(() => {
  changes = [];
  locals = 0;
});

/** The windows of three replicas over one server. */
const replicas = (windowMs = WINDOW_MS) =>
  (current = links.map((link, rank) =>
    createRedisWindow({
      link,
      standing: () => ({ rank, count: REPLICAS }),
      windowMs,
      clock: systemClock,
      observer: {
        onShared: (isShared) => changes.push(`${rank} ${isShared ? "shared" : "local"}`),
        onLocal: () => locals++,
      },
    }),
  ));
const freshKey = () => `key-${crypto.randomUUID()}`;
const linksAre = async (isUp: boolean) => {
  const deadline = performance.now() + 30_000;
  while (links.some((link) => link.isUp !== isUp)) {
    if (performance.now() > deadline) throw new Error("the links did not change");
    await Bun.sleep(10);
  }
};

describeWithServers("with Redis", () => {
  test("1,000 parallel requests over three replicas on a limit of 100: exactly 100", async () => {
    const [key, windows] = [freshKey(), replicas()];
    const decisions = await Promise.all(
      Array.from({ length: 1_000 }, (_, i) => windows[i % REPLICAS]!.take(key, 1, 100)),
    );
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(100);
    expect(decisions.map(({ remaining }) => remaining).toSorted((a, b) => b - a)[0]).toBe(99);
    expect(new Set(decisions.map(({ resetAt }) => resetAt)).size).toBe(1);
    expect(locals).toBe(0);
  });

  test("all of a batch is taken or none, and 0 only looks", async () => {
    const [key, [first, second]] = [freshKey(), replicas()];
    expect(await first!.take(key, 0, 10)).toMatchObject({ allowed: true, remaining: 10 });
    expect(await first!.take(key, 7, 10)).toMatchObject({ allowed: true, remaining: 3 });
    expect(await second!.take(key, 4, 10)).toMatchObject({ allowed: false, remaining: 3 });
    expect(await second!.take(key, 0, 10)).toMatchObject({ allowed: true, remaining: 3 });
    expect(await second!.take(key, 3, 10)).toMatchObject({ allowed: true, remaining: 0 });
  });

  test("a window ends after its time and the next one is whole", async () => {
    const windowMs = 400;
    const [key, [first, second]] = [freshKey(), replicas(windowMs)];
    const { resetAt } = await first!.take(key, 5, 5);
    let next = await second!.take(key, 1, 5);
    expect(Math.abs(resetAt - Date.now())).toBeLessThanOrEqual(windowMs * 100);
    while (!next.allowed) {
      await Bun.sleep(20);
      next = await second!.take(key, 1, 5);
    }
    expect(next.resetAt).toBeGreaterThanOrEqual(resetAt + windowMs);
    expect(next.remaining).toBe(4);
  });

  test("a server whose scripts were flushed is given them again", async () => {
    const [key, [first]] = [freshKey(), replicas()];
    await first!.take(key, 1, 10);
    await links[0]!.send("SCRIPT", ["FLUSH"]);
    expect(await first!.take(key, 1, 10)).toMatchObject({ allowed: true, remaining: 8 });
    expect(changes).not.toContain("0 local");
  });
});

describeWithServers("without Redis", () => {
  test("shares are exactly the whole, whatever the numbers", () => {
    const random = seededRandom(3);
    for (let round = 0; round < 500; round++) {
      const [whole, count] = [Math.floor(random() * 1_000), 1 + Math.floor(random() * 9)];
      const shares = Array.from({ length: count }, (_, rank) => shareOf(whole, { rank, count }));
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(whole);
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
    }
  });

  test("a window that Redis lost is neither forgotten nor granted twice", async () => {
    const [known, fresh, windows] = [freshKey(), freshKey(), replicas()];
    const takeAll = async (key: string, times: number, limit: number) => {
      let taken = 0;
      for (let i = 0; i < times; i++) {
        for (const window of windows) if ((await window.take(key, 1, limit)).allowed) taken++;
      }
      return taken;
    };
    expect(await takeAll(known, 13, 60)).toBe(39);
    await redis.kill();
    await linksAre(false);
    const meanwhile = await takeAll(known, 2, 60);
    expect(meanwhile).toBe(6);
    expect(await takeAll(fresh, 50, 31)).toBe(31);
    expect(changes.toSorted()).toEqual(
      ["local", "shared"].flatMap((to) => [0, 1, 2].map((rank) => `${rank} ${to}`)).toSorted(),
    );
    await redis.start();
    const sharedAgain = () => changes.filter((change) => change.endsWith("shared")).length === 6;
    const deadline = performance.now() + 30_000;
    while (!sharedAgain()) {
      expect(performance.now()).toBeLessThan(deadline);
      for (const window of windows) await window.take("other", 0, 1);
      await Bun.sleep(10);
    }
    expect(await takeAll(fresh, 50, 31)).toBe(0);
    expect(await takeAll(known, 50, 60)).toBe(60 - 39 - meanwhile);
    expect(locals).toBeGreaterThan(0);
  }, 60_000);

  test("a server that falls silent is given up, and taken back when it speaks again", async () => {
    const [key, windows] = [freshKey(), replicas()];
    await windows[0]!.take(key, 1, 30);
    redis.freeze();
    const waiting = await Promise.all(windows.map((window) => window.take(key, 1, 30)));
    expect(waiting.every(({ allowed }) => allowed)).toBe(true);
    await linksAre(false);
    redis.thaw();
    await linksAre(true);
    expect((await windows[1]!.take(key, 1, 30)).allowed).toBe(true);
  }, 60_000);
});

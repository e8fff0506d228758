import { expect, test } from "bun:test";
import { ChainFollower } from "../../../src/upstream/blocks/follower.ts";
import { createLogFeed } from "../../../src/upstream/blocks/logFeed.ts";
import { parseLogFilter } from "../../../src/upstream/blocks/logFilter.ts";
import { UpstreamUnavailableError } from "../../../src/upstream/index.ts";
import { SimChain } from "./simChain.ts";

/** A feed over a simulated chain with one log per block; it looks at the chain only when told. */
function feedOf(sim: SimChain) {
  const closing = new AbortController();
  const naps = new Set<() => void>();
  const clock = {
    now: () => 0,
    monotonic: () => 0,
    sleep: (_: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        naps.add(resolve);
        signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
      }),
  };
  const reader = sim.reader();
  const { signal } = closing;
  const follower = new ChainFollower({
    reader,
    seenHead: () => undefined,
    blockTimeMs: 1_000,
    clock,
    signal,
    graceMs: 30_000,
  });
  return {
    follower,
    feed: createLogFeed({ follower, reader, clock, signal }),
    /** Lets a round pass and everything it caused. */
    async look() {
      for (const wake of naps) wake();
      naps.clear();
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    },
    close: () => closing.abort(),
  };
}

const all = parseLogFilter({});

// Whoever joined a feed under way was told of what was mined since the feed's last look.
test("a subscriber is told of nothing mined before it subscribed, also beside another", async () => {
  const sim = new SimChain();
  const { feed, follower, look, close } = feedOf(sim);
  const first: string[] = [];
  const second: string[] = [];
  const heads: number[] = [];
  await feed.subscribe(all, (json) => first.push(json));
  await look();
  sim.mine();
  await feed.subscribe(all, (json) => second.push(json));
  await follower.follow(({ block }) => void heads.push(block.number));
  sim.mine();
  await look();
  expect(first).toEqual(['{"n":10}', '{"n":11}']);
  expect(second).toEqual(['{"n":11}']);
  expect(heads).toEqual([11]);
  close();
});

test("a subscription that fails leaves the others as they are", async () => {
  const sim = new SimChain();
  const { feed, look, close } = feedOf(sim);
  const told: string[] = [];
  await feed.subscribe(all, (json) => told.push(json));
  await look();
  sim.failures = 1;
  await expect(feed.subscribe(all, () => {})).rejects.toBeInstanceOf(UpstreamUnavailableError);
  sim.failures = 0;
  sim.mine();
  await look();
  await look();
  expect(told).toEqual(['{"n":10}']);
  close();
});

test("a feed whose start failed starts for the next subscriber", async () => {
  const sim = new SimChain();
  const { feed, look, close } = feedOf(sim);
  sim.failures = 1;
  const refused = [1, 2].map(() => feed.subscribe(all, () => {}));
  for (const one of await Promise.allSettled(refused)) expect(one.status).toBe("rejected");
  sim.failures = 0;
  const told: string[] = [];
  await feed.subscribe(all, (json) => told.push(json));
  await look();
  sim.mine();
  await look();
  expect(told).toEqual(['{"n":10}']);
  close();
});

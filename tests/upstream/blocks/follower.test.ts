import { describe, expect, test } from "bun:test";
import { seededRandom } from "../../../src/lib/clock.ts";
import type { Block } from "../../../src/upstream/blocks/block.ts";
import { type BlockEvent, ChainFollower } from "../../../src/upstream/blocks/follower.ts";
import { SimChain, steppedClock } from "./simChain.ts";

/** Follows a simulated chain; each pause between looks takes one step of the script. */
async function follow(sim: SimChain, step: (round: number) => void, rounds: number) {
  const closing = new AbortController();
  const finished = Promise.withResolvers<void>();
  let round = 0;
  const clock = steppedClock(() => {
    step(round);
    if (++round < rounds) return;
    closing.abort();
    finished.resolve();
  });
  const follower = new ChainFollower({
    reader: sim.reader(),
    seenHead: () => undefined,
    blockTimeMs: 1_000,
    clock,
    signal: closing.signal,
    graceMs: 30_000,
  });
  const start = sim.head;
  const consumer = new Consumer(start);
  await follower.follow((event) => consumer.take(event));
  await finished.promise;
  expect(consumer.misfits).toEqual([]);
  return consumer;
}

/** Applies events and notes those that do not fit. */
class Consumer {
  readonly blocks: Block[];
  readonly events: BlockEvent[] = [];
  readonly misfits: BlockEvent[] = [];
  constructor(start: Block) {
    this.blocks = [start];
  }
  take(event: BlockEvent): void {
    this.events.push(event);
    const fits = event.removed.every(({ hash }) => this.blocks.pop()?.hash === hash);
    const parent = this.blocks.at(-1);
    const follows = parent === undefined || event.block.parentHash === parent.hash;
    if (!fits || !follows) this.misfits.push(event);
    this.blocks.push(event.block);
  }
}

const hashes = (blocks: readonly Block[]) => blocks.map(({ hash }) => hash);

test("a gap of many blocks is filled by number, every block once", async () => {
  const sim = new SimChain();
  const consumer = await follow(sim, (round) => round === 0 && sim.mine(500), 4);
  expect(hashes(consumer.blocks)).toEqual(hashes(sim.blocks.slice(9)));
  expect(consumer.events).toHaveLength(500);
});

test("a node that lags takes nothing back", async () => {
  const sim = new SimChain();
  sim.mine(5);
  const step = () => {
    sim.mine();
    sim.lagging = 0.5;
    sim.lagBlocks = 4;
  };
  const consumer = await follow(sim, step, 100);
  expect(consumer.events.flatMap(({ removed }) => removed)).toEqual([]);
  expect(consumer.blocks.length).toBeGreaterThan(80);
});

test("a node that is behind where following began takes nothing back either", async () => {
  const sim = new SimChain();
  const consumer = await follow(
    sim,
    (round) => {
      sim.lagging = round < 20 ? 1 : 0;
      sim.lagBlocks = 5;
    },
    40,
  );
  expect(consumer.events).toEqual([]);
});

test("a longer branch replaces ours at once", async () => {
  const sim = new SimChain();
  const consumer = await follow(
    sim,
    (round) => {
      if (round === 0) sim.mine(5);
      if (round === 2) sim.reorganise(3, 4);
    },
    4,
  );
  expect(hashes(consumer.blocks)).toEqual(hashes(sim.blocks.slice(9)));
  expect(consumer.events.map(({ removed }) => removed.length)).toEqual([0, 0, 0, 0, 0, 3, 0, 0, 0]);
});

describe("a branch that is not longer", () => {
  test("replaces ours when nothing else is seen", async () => {
    const sim = new SimChain();
    const consumer = await follow(
      sim,
      (round) => {
        if (round === 0) sim.mine(5);
        if (round === 2) sim.reorganise(3, 2);
      },
      8,
    );
    expect(hashes(consumer.blocks)).toEqual(hashes(sim.blocks.slice(9)));
  });

  test("does not when ours is seen again", async () => {
    const sim = new SimChain();
    let ours: Block[] = [];
    const consumer = await follow(
      sim,
      (round) => {
        if (round === 0) sim.mine(5);
        if (round === 2) {
          ours = sim.blocks.slice();
          sim.reorganise(2, 2);
        }
        // Two nodes answer in turn.
        if (round > 2) [ours, sim.blocks] = [sim.blocks, ours];
      },
      30,
    );
    expect(consumer.events.flatMap(({ removed }) => removed)).toEqual([]);
  });

  test("goes below where following began only when it stays so", async () => {
    const sim = new SimChain();
    const consumer = await follow(
      sim,
      (round) => {
        if (round === 0) sim.mine(2);
        if (round === 2) sim.reorganise(8, 1);
        // 30 s at four looks per second.
        if (round === 60) expect(consumed()).toBe(2);
        if (round === 150) sim.mine(3);
      },
      160,
    );
    expect(hashes(consumer.blocks).slice(-4)).toEqual(hashes(sim.blocks.slice(-4)));
    function consumed() {
      return sim.everMined.size - 11;
    }
  });
});

test("following ends some time after the last listener, and begins anew", async () => {
  const sim = new SimChain();
  const closing = new AbortController();
  const clock = steppedClock(() => sim.mine());
  const reader = sim.reader();
  const follower = new ChainFollower({
    reader,
    seenHead: () => undefined,
    blockTimeMs: 1_000,
    clock,
    signal: closing.signal,
    graceMs: 1_000,
  });
  const stop = await follower.follow(() => {});
  stop();
  let before = -1;
  while (sim.reads !== before) {
    before = sim.reads;
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  }
  const heard = Promise.withResolvers<number>();
  await follower.follow(({ block }) => heard.resolve(block.number));
  expect(await heard.promise).toBeGreaterThan(10);
  closing.abort();
});

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  "whatever happens, events lead from block to block and end at the chain's (seed %i)",
  async (seed) => {
    const random = seededRandom(seed);
    const sim = new SimChain(random);
    const ROUNDS = 400;
    const consumer = await follow(
      sim,
      (round) => {
        if (round === 0) sim.failures = sim.lagging = 0.2;
        sim.lagBlocks = Math.floor(random() * 4);
        if (round > ROUNDS - 50) {
          sim.failures = sim.lagging = 0;
          if (round === ROUNDS - 40) sim.mine(2);
          return;
        }
        const dice = random();
        if (dice < 0.45) sim.mine();
        else if (dice < 0.48) sim.mine(30);
        else if (dice < 0.7) {
          const depth = 1 + Math.floor(random() * Math.min(6, sim.blocks.length - 12));
          if (sim.blocks.length > 20) sim.reorganise(depth, depth + Math.floor(random() * 3) - 1);
        }
      },
      ROUNDS,
    );
    const kept = hashes(consumer.blocks);
    expect(kept).toEqual(hashes(sim.blocks).slice(-kept.length));
    expect(consumer.events.some(({ removed }) => removed.length > 0)).toBe(true);
  },
);

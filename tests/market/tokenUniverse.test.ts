import { expect, test } from "bun:test";
import { type Address, getAddress } from "viem";
import type { NetworkData } from "../../src/config/index.ts";
import { LoadQueue } from "../../src/market/loadQueue.ts";
import { TokenUniverse } from "../../src/market/tokenUniverse.ts";

const address = (index: number): Address => getAddress(`0x${index.toString(16).padStart(40, "0")}`);
const token = (index: number, symbol: string) => ({
  symbol,
  name: symbol,
  address: address(index),
  decimals: 18,
});

const chain: NetworkData = {
  kind: "evm",
  id: 1,
  name: "Test",
  aliases: [],
  environment: "testnet",
  blockTimeMs: 1_000,
  native: { symbol: "ETH", decimals: 18 },
  upstreams: [],
  tokens: [token(1, "A"), token(2, "B"), token(3, "C")],
  connectors: ["B"],
  venues: [],
};

test("all pairs of the configured tokens are followed from the start", () => {
  const universe = new TokenUniverse({ ...chain, wrappedNative: address(4) });
  expect(universe.pairs).toHaveLength(6);
  expect(universe.knows(address(3), address(1))).toBe(true);
});

test("a token asked for brings its pairs with the connectors and with its counterpart", () => {
  const universe = new TokenUniverse(chain);
  expect(universe.knows(address(9), address(1))).toBe(false);
  const { added, evicted } = universe.admit(address(9), address(1));
  expect(added).toEqual([
    [address(9), address(1)],
    [address(9), address(2)],
  ]);
  expect(evicted).toEqual([]);
  expect(universe.knows(address(1), address(9))).toBe(true);
  expect(universe.admit(address(9), address(3)).added).toEqual([[address(9), address(3)]]);
});

test("tokens asked for by address are bounded: the least recently used leaves with its pairs", () => {
  const universe = new TokenUniverse(chain);
  for (let index = 100; index < 164; index++) universe.admit(address(index), address(1));
  expect(universe.knows(address(100), address(1))).toBe(true);
  const { evicted } = universe.admit(address(164), address(1));
  expect(evicted).toEqual([address(101)]);
  expect(universe.knows(address(101), address(1))).toBe(false);
  expect(universe.knows(address(101), address(2))).toBe(false);
  expect(universe.knows(address(100), address(1))).toBe(true);
  expect(universe.pairs).toHaveLength(3 + 2 * 64);
});

const pool = (index: number, kind: "v2" | "v3" = "v3") => ({
  venueId: "venue",
  address: address(index),
  token0: address(1),
  token1: address(1_000 + index),
  feePips: 500,
  ...(kind === "v2" ? { kind } : { kind, tickSpacing: 10 }),
});

test("known pools are bounded", () => {
  const queue = new LoadQueue();
  queue.admit(Array.from({ length: 1_000 }, (_, index) => pool(index)));
  expect(queue.known).toBe(600);
});

test("a pool that fails is tried again at once, then after longer and longer waits", () => {
  const queue = new LoadQueue();
  queue.admit([pool(1)]);
  const waits: number[] = [];
  for (let nowMs = 0, tries = 0; tries < 9; tries++) {
    queue.failed(address(1), nowMs);
    const waitMs = queue.nextDueMs(nowMs) ?? -1;
    waits.push(waitMs);
    nowMs += waitMs;
  }
  expect(waits).toEqual([0, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  expect(queue.hasUntried).toBe(false);
});

test("pools wanted most come first, and all pairs with them", () => {
  const queue = new LoadQueue();
  queue.admit([pool(1), pool(2), pool(3, "v2"), pool(4)]);
  const due = queue.due(0, 2, ({ token1 }) => token1 === address(1_004));
  expect(due.map((each) => each.address)).toEqual([address(3), address(4), address(1)]);
  expect(queue.forget(address(1_004))).toEqual([address(4)]);
  expect(queue.known).toBe(3);
});

import { type Address, toHex } from "viem";
import { createRegistry, type Chain } from "../../src/chains/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { seededRandom, systemClock } from "../../src/lib/clock.ts";
import {
  type BlockRef,
  createSnapshot,
  type MarketPool,
  type Snapshot,
} from "../../src/market/index.ts";
import { createSwapService, type SwapService } from "../../src/swap/index.ts";
import { compareSizes, type Size } from "../growth.ts";
import { addressOf, FEES_PIPS, poolsOfPair } from "../micro/pools.ts";
import type { Scenario } from "../scenario.ts";

const CHAIN_ID = 5042;
const COUNTS = [10, 100, 1_000, 5_000];
const CONNECTORS = 3;
/** Quotes of one block: the state they are from is new afterwards. */
const QUOTES_PER_BLOCK = 2_000;
/** Pools a block changes. */
const TRADED_PER_BLOCK = 10;

/** Cost of a quote against the number of pools of its chain. */
export const growthPools: Scenario = {
  name: "growth-pools",
  title: "quotes between tokens drawn at random, in this process",
  async run(bench) {
    const sizes = COUNTS.map((count): Size => {
      const market = createGrid(count);
      return {
        count,
        measured: {
          check: async () => void (await quoteOnce(market)),
          measure: (seconds) => measure(market, seconds),
        },
      };
    });
    return compareSizes(bench, this, "pools", sizes, [
      `Each pair has a v2 pool and v3 pools of ${FEES_PIPS.length} fees with 40 ranges; each token has pairs with ${CONNECTORS} connectors. More pools are more tokens, which routes do not pass through.`,
      `${TRADED_PER_BLOCK} pools change every ${QUOTES_PER_BLOCK.toLocaleString("en-US")} quotes. The service holds at most 600 pools of a chain; more are given to it here.`,
      "Ten pools are those of three connectors and one other token, so routes are fewer and shorter there: the course from 100 pools on is what their number costs.",
    ]);
  },
};

/** A chain's pools at one block after another, and quotes on them. */
interface Grid {
  readonly swap: SwapService;
  readonly tokens: readonly Address[];
  readonly random: () => number;
  /** Goes on by a block that changes some pools. */
  advance(): void;
}

function createGrid(count: number): Grid {
  const random = seededRandom(count);
  const { tokens: all, pools } = layOut(count);
  // Trades between connectors have fewer routes, and more of them fall to a smaller market.
  const others = all.slice(CONNECTORS);
  const tokens = others.length > 1 ? others : all;
  const chain = chainOf(all);
  let block: BlockRef = { number: 1n, hash: hashOf(1), parentHash: hashOf(0), timestampMs: 0 };
  let snapshot: Snapshot = createSnapshot(CHAIN_ID, block, pools);
  const swap = createSwapService({
    registry: createRegistry({ useDefaultUpstreams: false, override: { [CHAIN_ID]: chain } }),
    upstream: {
      transport() {
        throw new Error("a quote asked a node");
      },
    },
    market: { snapshot: async () => snapshot },
    config: loadConfig({}).swap,
    clock: systemClock,
  });
  return {
    swap,
    tokens,
    random,
    advance() {
      for (let traded = 0; traded < TRADED_PER_BLOCK; traded++) {
        const index = Math.floor(random() * pools.length);
        const pool = pools[index];
        if (pool) pools[index] = { ...pool };
      }
      const number = block.number + 1n;
      block = { number, hash: hashOf(Number(number)), parentHash: block.hash, timestampMs: 0 };
      snapshot = createSnapshot(CHAIN_ID, block, pools);
    },
  };
}

async function measure(grid: Grid, seconds: number) {
  const until = performance.now() + seconds * 1_000;
  const before = process.cpuUsage();
  const startedAt = performance.now();
  let answers = 0;
  while (performance.now() < until) {
    await quoteOnce(grid);
    if (++answers % QUOTES_PER_BLOCK === 0) grid.advance();
  }
  const { user, system } = process.cpuUsage(before);
  return {
    quotesPerSecond: (answers / (performance.now() - startedAt)) * 1_000,
    cpuMicrosPerAnswer: (user + system) / answers,
  };
}

function quoteOnce({ swap, tokens, random }: Grid) {
  const from = Math.floor(random() * tokens.length);
  const to = (from + 1 + Math.floor(random() * (tokens.length - 1))) % tokens.length;
  return swap.quote({
    inputToken: tokens[from] ?? "",
    outputToken: tokens[to] ?? "",
    inputAmount: String(10n ** 15n + BigInt(Math.floor(random() * 1e15))),
    chainId: CHAIN_ID,
  });
}

/** Pools of so many pairs as are needed: connectors with each other, then tokens with them. */
function layOut(count: number): { tokens: Address[]; pools: MarketPool[] } {
  const tokens: Address[] = [];
  const pools: MarketPool[] = [];
  while (pools.length < count) {
    const token = addressOf(0x1000 + tokens.length);
    for (const connector of tokens.slice(0, CONNECTORS)) {
      const pairs = poolsOfPair(token, connector, pools.length);
      pools.push(...pairs.slice(0, count - pools.length));
      if (pools.length === count) break;
    }
    tokens.push(token);
  }
  return { tokens, pools };
}

/** The chain with these tokens, the first of which are its connectors. */
function chainOf(tokens: readonly Address[]): Chain {
  const known = createRegistry(loadConfig({}).networks).byId(CHAIN_ID);
  if (!known) throw new Error(`chain ${CHAIN_ID} is not in the registry`);
  const symbols = tokens.map((_, index) => `T${index}`);
  return {
    ...known,
    tokens: tokens.map((address, index) => ({
      symbol: symbols[index] ?? "",
      name: "",
      address,
      decimals: 18,
    })),
    connectors: symbols.slice(0, CONNECTORS),
  };
}

function hashOf(value: number) {
  return toHex(value, { size: 32 });
}

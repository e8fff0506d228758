import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Address, decodeFunctionResult, encodeFunctionData, parseAbi } from "viem";
import { seededRandom } from "../../src/lib/clock.ts";
import { type V3Pool, v3PoolAddress, v3SwapExactIn } from "../../src/market/index.ts";
import { type PreparedChain, startPreparedChain } from "../support/sandbox.ts";
import { chainClient, readV3Pool } from "./poolState.ts";

const quoterAbi = parseAbi([
  "struct Params { address tokenIn; address tokenOut; uint256 amountIn; uint24 fee; uint160 limit; }",
  "function quoteExactInputSingle(Params params) returns (uint256 amountOut, uint160 sqrtPriceX96After, uint32 ticksCrossed, uint256 gasEstimate)",
]);
const RUNS = 2_000;
const BATCH = 100;

interface LoadedPool {
  readonly token0: Address;
  readonly token1: Address;
  readonly state: V3Pool;
}

let chain: PreparedChain;
let client: ReturnType<typeof chainClient>;
let pools: LoadedPool[];

beforeAll(async () => {
  chain = await startPreparedChain();
  client = chainClient(chain.url);
  pools = await loadPools();
});
afterAll(() => chain.stop());

async function loadPools(): Promise<LoadedPool[]> {
  const { tokens, venues, multicall3 } = chain.deployment;
  const venue = venues.find(({ type }) => type === "v3")!;
  const loaded: LoadedPool[] = [];
  for (const a of tokens) {
    for (const b of tokens.filter(
      (other) => a.address.toLowerCase() < other.address.toLowerCase(),
    )) {
      for (const fee of venue.feeTiers ?? []) {
        const address = v3PoolAddress(venue, a.address, b.address, fee);
        if (!(await client.getCode({ address }))) continue;
        const state = await readV3Pool(client, multicall3, address);
        loaded.push({ token0: a.address, token1: b.address, state });
      }
    }
  }
  return loaded;
}

/** Amounts spread evenly over the orders of magnitude from 1 to 10^45. */
function randomCase(random: () => number) {
  const pool = pools[Math.floor(random() * pools.length)]!;
  const exponent = Math.floor(random() * 45);
  const amountIn = (10n ** BigInt(exponent) * BigInt(1 + Math.floor(random() * 1e9))) / 10n ** 8n;
  return { pool, zeroForOne: random() < 0.5, amountIn: amountIn > 0n ? amountIn : 1n };
}

/** Asks the quoter; with gas enough to walk the whole price range of a pool of spacing 1. */
async function quoteOnChain({ pool, zeroForOne, amountIn }: ReturnType<typeof randomCase>) {
  const { quoter } = chain.deployment.venues.find(({ type }) => type === "v3")!;
  const [tokenIn, tokenOut] = zeroForOne ? [pool.token0, pool.token1] : [pool.token1, pool.token0];
  const params = { tokenIn, tokenOut, amountIn, fee: pool.state.feePips, limit: 0n };
  const call = { abi: quoterAbi, functionName: "quoteExactInputSingle" } as const;
  const { data } = await client.call({
    to: quoter,
    data: encodeFunctionData({ ...call, args: [params] }),
    gas: 200_000_000n,
  });
  return decodeFunctionResult({ ...call, data: data! });
}

describe("the v3 engine against QuoterV2", () => {
  test("loaded pools are consistent: net liquidity adds up to 0 and to what is in range", () => {
    expect(pools.length).toBeGreaterThan(10);
    for (const { state } of pools) {
      const sum = (upTo: number) =>
        state.ticks
          .filter(({ index }) => index <= upTo)
          .reduce((total, { liquidityNet }) => total + liquidityNet, 0n);
      expect(sum(Number.MAX_SAFE_INTEGER)).toBe(0n);
      expect(sum(state.tick)).toBe(state.liquidity);
    }
  });

  test(`amount and price of ${RUNS} random swaps are equal to the last bit`, async () => {
    const random = seededRandom(20_260_401);
    const ends = { complete: 0, liquidity: 0, steps: 0 };
    for (let done = 0; done < RUNS; done += BATCH) {
      const cases = Array.from({ length: BATCH }, () => randomCase(random));
      const quotes = await Promise.all(cases.map(quoteOnChain));
      for (const [index, { pool, zeroForOne, amountIn }] of cases.entries()) {
        const swap = v3SwapExactIn(pool.state, zeroForOne, amountIn, 20_000);
        const [amountOut, price] = quotes[index]!;
        expect([swap.amountOut, swap.sqrtPriceX96]).toEqual([amountOut, price]);
        ends[swap.end] += 1;
      }
    }
    expect(ends.steps).toBe(0);
    expect(ends.complete).toBeGreaterThan(RUNS / 2);
    expect(ends.liquidity).toBeGreaterThan(20);
  }, 60_000);
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Address, type ContractFunctionParameters, parseAbi } from "viem";
import { ApiError } from "../../src/lib/errors.ts";
import { seededRandom } from "../../src/lib/clock.ts";
import { startSwapWorld, type SwapWorld } from "./support.ts";

const oracleAbi = parseAbi([
  "function getAmountsOut(uint256 amountIn, address[] path) view returns (uint256[] amounts)",
  "struct Params { address tokenIn; address tokenOut; uint256 amountIn; uint24 fee; uint160 limit; }",
  "function quoteExactInputSingle(Params params) returns (uint256 amountOut, uint160 sqrtPriceX96After, uint32 ticksCrossed, uint256 gasEstimate)",
]);
const PRICE_LIMITS = new Set([
  4_295_128_740n,
  1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_341n,
]);
const RUNS = 1_000;
const BATCH = 50;

let world: SwapWorld;
beforeAll(async () => {
  world = await startSwapWorld();
});
afterAll(() => world.stop());

interface Trade {
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  readonly amountIn: bigint;
  readonly dexId: string | undefined;
}

/** Sizes spread evenly over twelve orders of magnitude, a millionth to a million tokens. */
function randomTrade(random: () => number): Trade {
  const { tokens, venues } = world.chain.deployment;
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)]!;
  const from = pick(tokens);
  const to = pick(tokens.filter((token) => token !== from));
  const size = BigInt(Math.floor(10 ** (random() * 12) * 1_000));
  const amountIn = (size * 10n ** BigInt(from.decimals)) / 10n ** 9n;
  return {
    tokenIn: from.address,
    tokenOut: to.address,
    amountIn: amountIn > 0n ? amountIn : 1n,
    dexId: random() < 0.4 ? undefined : pick(venues).id,
  };
}

/** What the venues' own contracts say each pool pays; 0n where a pool is missing or runs dry. */
function oracleCalls(trade: Trade): ContractFunctionParameters[] {
  const { tokenIn, tokenOut, amountIn, dexId } = trade;
  const venues = world.chain.deployment.venues.filter(({ id }) => !dexId || id === dexId);
  return venues.flatMap(({ type, router, quoter, feeTiers = [] }): ContractFunctionParameters[] => {
    if (type === "v2") {
      const args = [amountIn, [tokenIn, tokenOut]];
      return [{ address: router, abi: oracleAbi, functionName: "getAmountsOut", args }];
    }
    return feeTiers.map((fee) => ({
      address: quoter,
      abi: oracleAbi,
      functionName: "quoteExactInputSingle",
      args: [{ tokenIn, tokenOut, amountIn, fee, limit: 0n }],
    }));
  });
}

function paidInFull(result: unknown): bigint {
  const values = (result ?? [0n, 0n]) as readonly bigint[];
  const isRouter = values.length === 2;
  if (isRouter) return values[1]!;
  return PRICE_LIMITS.has(values[1]!) ? 0n : values[0]!;
}

async function serviceOutputs(trade: Trade): Promise<bigint[]> {
  const { tokenIn, tokenOut, amountIn, dexId } = trade;
  try {
    const quote = await world.service.quote({
      inputToken: tokenIn,
      outputToken: tokenOut,
      inputAmount: amountIn.toString(),
      ...(dexId && { dexId }),
    });
    return [quote, ...quote.routeOptions].map(({ outputAmount }) => BigInt(outputAmount));
  } catch (error) {
    if (error instanceof ApiError && error.code === "NO_ROUTE") return [];
    throw error;
  }
}

test(`${RUNS} random quotes are equal to getAmountsOut and QuoterV2 at the same block`, async () => {
  const random = seededRandom(77);
  let compared = 0;
  for (let done = 0; done < RUNS; done += BATCH) {
    const trades = Array.from({ length: BATCH }, () => randomTrade(random));
    const quoted = await Promise.all(trades.map(serviceOutputs));
    const calls = trades.map(oracleCalls);
    const answers = await Promise.all(
      calls.map((contracts) =>
        world.client.multicall({
          contracts,
          multicallAddress: world.chain.deployment.multicall3,
          batchSize: 0,
        }),
      ),
    );
    for (const [index, outputs] of quoted.entries()) {
      const expected = answers[index]!.map(({ result }) => paidInFull(result))
        .filter((amountOut) => amountOut > 0n)
        .sort((a, b) => (a < b ? 1 : a > b ? -1 : 0));
      expect(outputs).toEqual(expected.slice(0, 6));
      compared += outputs.length;
    }
  }
  expect(compared).toBeGreaterThan(RUNS);
}, 60_000);

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Address, type ContractFunctionParameters, parseAbi } from "viem";
import { ApiError } from "../../src/lib/errors.ts";
import { seededRandom } from "../../src/lib/clock.ts";
import type { Hop, Quote } from "../../src/swap/model.ts";
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

/** What a hop's own venue says its pool pays. */
function oracleCall({ dexId, tokenIn, tokenOut, amountIn, fee }: Hop): ContractFunctionParameters {
  const { type, router, quoter } = world.chain.deployment.venues.find(({ id }) => id === dexId)!;
  const amount = BigInt(amountIn);
  if (type === "v2") {
    const args = [amount, [tokenIn, tokenOut]];
    return { address: router, abi: oracleAbi, functionName: "getAmountsOut", args };
  }
  return {
    address: quoter,
    abi: oracleAbi,
    functionName: "quoteExactInputSingle",
    args: [{ tokenIn, tokenOut, amountIn: amount, fee, limit: 0n }],
  };
}

/** What every pool of the pair alone would pay; 0n where one is missing or runs dry. */
function poolCalls({ tokenIn, tokenOut, amountIn, dexId }: Trade): ContractFunctionParameters[] {
  const venues = world.chain.deployment.venues.filter(({ id }) => !dexId || id === dexId);
  return venues.flatMap(({ id, feeTiers = [3_000] }) =>
    feeTiers.map((fee) =>
      oracleCall({ dexId: id, tokenIn, tokenOut, amountIn: amountIn.toString(), fee } as Hop),
    ),
  );
}

function paidInFull(result: unknown): bigint {
  const values = (result ?? [0n, 0n]) as readonly bigint[];
  const isRouter = values.length === 2;
  if (isRouter) return values[1]!;
  return PRICE_LIMITS.has(values[1]!) ? 0n : values[0]!;
}

async function ask(contracts: ContractFunctionParameters[]): Promise<bigint[]> {
  const { multicall3 } = world.chain.deployment;
  const options = { contracts, multicallAddress: multicall3, batchSize: 0 };
  return (await world.client.multicall(options)).map(({ result }) => paidInFull(result));
}

async function quoteOf(trade: Trade): Promise<Quote | undefined> {
  const { tokenIn, tokenOut, amountIn, dexId } = trade;
  try {
    return await world.service.quote({
      inputToken: tokenIn,
      outputToken: tokenOut,
      inputAmount: amountIn.toString(),
      ...(dexId && { dexId }),
    });
  } catch (error) {
    if (error instanceof ApiError && error.code === "NO_ROUTE") return undefined;
    throw error;
  }
}

test(`every hop of ${RUNS} random quotes is what getAmountsOut or QuoterV2 say`, async () => {
  const random = seededRandom(77);
  const types = { single: 0, multi: 0, split: 0 };
  for (let done = 0; done < RUNS; done += BATCH) {
    const trades = Array.from({ length: BATCH }, () => randomTrade(random));
    const quotes = await Promise.all(trades.map(quoteOf));
    const alone = await Promise.all(trades.map((trade) => ask(poolCalls(trade))));
    for (const [index, quote] of quotes.entries()) {
      const most = alone[index]!.reduce((best, paid) => (paid > best ? paid : best), 0n);
      if (!quote) {
        expect(most).toBe(0n);
        continue;
      }
      const routes = [quote.route, ...quote.routeOptions];
      for (const { type } of routes) types[type] += 1;
      const outputs = [quote, ...quote.routeOptions].map((route) => BigInt(route.outputAmount));
      expect(outputs.some((output) => output >= most)).toBe(true);
      const hops = routes.flatMap((route) => route.hops);
      const expected = await ask(hops.map(oracleCall));
      expect(hops.map(({ amountOut }) => BigInt(amountOut))).toEqual(expected);
    }
  }
  expect(Math.min(...Object.values(types))).toBeGreaterThan(RUNS / 4);
}, 60_000);

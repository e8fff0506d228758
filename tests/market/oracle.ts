import {
  type Address,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  parseAbi,
  toHex,
} from "viem";
import type { MarketPool } from "../../src/market/index.ts";
import type { PreparedChain } from "../support/sandbox.ts";

const quoterAbi = parseAbi([
  "struct Params { address tokenIn; address tokenOut; uint256 amountIn; uint24 fee; uint160 limit; }",
  "function quoteExactInputSingle(Params params) returns (uint256 amountOut, uint160 sqrtPriceX96After, uint32 ticksCrossed, uint256 gasEstimate)",
]);
const routerAbi = parseAbi([
  "function getAmountsOut(uint256 amountIn, address[] path) view returns (uint256[] amounts)",
]);
const aggregateAbi = parseAbi([
  "struct Call { address target; bool allowFailure; bytes callData; }",
  "struct Result { bool success; bytes returnData; }",
  "function aggregate3(Call[] calls) payable returns (Result[] results)",
]);
/** Enough to walk the whole range of a pool of spacing 1 many times over. */
const GAS = toHex(20_000_000_000n);

export interface Case {
  readonly pool: MarketPool;
  readonly zeroForOne: boolean;
  readonly amountIn: bigint;
}

/** What a venue's own contract answers; undefined where it reverts. */
export interface OnChainQuote {
  readonly amountOut: bigint;
  /** v3 only. */
  readonly sqrtPriceX96: bigint | undefined;
}

/** Asks the venues' quoters and routers about all cases in one call at a block. */
export async function quoteOnChain(
  chain: PreparedChain,
  cases: readonly Case[],
  blockNumber: bigint,
): Promise<(OnChainQuote | undefined)[]> {
  const { multicall3 } = chain.deployment;
  const calls = cases.map((each) => ({ ...callOf(chain, each), allowFailure: true }));
  const aggregate = { abi: aggregateAbi, functionName: "aggregate3" } as const;
  const data = (await chain.rpc.call("eth_call", [
    { to: multicall3, data: encodeFunctionData({ ...aggregate, args: [calls] }), gas: GAS },
    toHex(blockNumber),
  ])) as Hex;
  return decodeFunctionResult({ ...aggregate, data }).map(({ success, returnData }, index) =>
    success ? decode(cases[index]!.pool, returnData) : undefined,
  );
}

function callOf(chain: PreparedChain, { pool, zeroForOne, amountIn }: Case) {
  const { quoter } = chain.deployment.venues.find(({ id }) => id === pool.venueId)!;
  const [tokenIn, tokenOut]: [Address, Address] = zeroForOne
    ? [pool.token0, pool.token1]
    : [pool.token1, pool.token0];
  const callData =
    pool.kind === "v2"
      ? encodeFunctionData({
          abi: routerAbi,
          functionName: "getAmountsOut",
          args: [amountIn, [tokenIn, tokenOut]],
        })
      : encodeFunctionData({
          abi: quoterAbi,
          functionName: "quoteExactInputSingle",
          args: [{ tokenIn, tokenOut, amountIn, fee: pool.feePips, limit: 0n }],
        });
  return { target: quoter, callData };
}

function decode(pool: MarketPool, data: Hex): OnChainQuote {
  if (pool.kind === "v2") {
    const amounts = decodeFunctionResult({ abi: routerAbi, functionName: "getAmountsOut", data });
    return { amountOut: amounts[1]!, sqrtPriceX96: undefined };
  }
  const [amountOut, sqrtPriceX96] = decodeFunctionResult({
    abi: quoterAbi,
    functionName: "quoteExactInputSingle",
    data,
  });
  return { amountOut, sqrtPriceX96 };
}

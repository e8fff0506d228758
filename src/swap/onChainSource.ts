import type { PublicClient } from "viem";
import type { Venue } from "../chains/index.ts";
import {
  afterFeePips,
  candidatePools,
  checksummed,
  isAtPriceLimit,
  type PoolCandidate,
  priceImpactPercent,
  type Ratio,
  sortsBefore,
  v2AmountOut,
  v2SpotPrice,
  v3SpotPrice,
} from "../market/index.ts";
import { ApiError } from "../lib/errors.ts";
import { multicall3Abi, quoterV2Abi, v2PairAbi, v3PoolAbi } from "./abi.ts";
import { type ChainClients, isUnreachable } from "./clients.ts";
import { type HopWork, routeGas, unseenGas, v3SwapGas } from "./gasModel.ts";
import { multicall3Of, ReadBatch } from "./multicall.ts";
import type { PricedRoute, QuoteSource, TradeRequest } from "./quoteSource.ts";

/** v3-core takes the input as int256. */
const MAX_V3_AMOUNT_IN = (1n << 255n) - 1n;

/** What QuoterV2 answers: output, price after, initialised ticks crossed, gas of `pool.swap`. */
type QuoterAnswer = readonly [bigint, bigint, number, bigint];

/** What was read about one pool; members are undefined where there is no such pool. */
interface PoolReading {
  readonly pool: PoolCandidate;
  readonly reserves: readonly [bigint, bigint, number] | undefined;
  readonly hasTraded: boolean;
  readonly sqrtPriceX96: bigint | undefined;
  readonly quoted: QuoterAnswer | undefined;
}

interface MarketReading {
  readonly blockNumber: bigint;
  readonly pools: readonly PoolReading[];
}

/**
 * Prices pools on chain, for venues whose curves are not mirrored here: every pool of every venue in
 * one Multicall3 `eth_call`, which gives the block number too. v2 outputs are computed from the
 * reserves; v3 outputs come from the quoter. Every route is one pool with the whole input.
 *
 * A quoter that walks an empty price range can use up the gas of the whole call. It is then asked
 * alone, at the same block, so that one exhausted pool does not hide the others.
 */
export function createOnChainSource(clients: ChainClients): QuoteSource {
  const quote: QuoteSource["quote"] = async (request, { blockNumber: at } = {}) => {
    const client = clients(request.chain.id);
    const market =
      (await readMarket(client, request, true, at)) ??
      (await readMarket(client, request, false, at));
    if (!market) throw new ApiError("UPSTREAM_UNREACHABLE");
    const { blockNumber } = market;
    const readings = await Promise.all(
      market.pools.map((reading) => completeReading(client, request, reading, blockNumber)),
    );
    const routes = readings
      .flatMap((reading) => toRoute(reading, request) ?? [])
      .toSorted((a, b) => (a.amountOut === b.amountOut ? 0 : a.amountOut > b.amountOut ? -1 : 1));
    return { blockNumber, outPerGas: undefined, routes };
  };
  return {
    quote,
    async price(request, hops) {
      const pool = hops[0]?.pool;
      if (!pool || hops.length > 1) return undefined;
      const venues = request.chain.venues.filter(({ id }) => id === pool.venueId);
      const { routes } = await quote({ ...request, venues });
      return routes.find(({ hops: [hop] }) => hop?.pool === pool.address);
    },
  };
}

/**
 * Reads all pools at one block.
 * @returns undefined when the call as a whole failed on chain
 */
async function readMarket(
  client: PublicClient,
  request: TradeRequest,
  withQuoters: boolean,
  at: bigint | undefined,
): Promise<MarketReading | undefined> {
  const batch = new ReadBatch();
  const multicall3 = {
    address: multicall3Of(request.chain),
    abi: multicall3Abi,
    args: [],
  } as const;
  const blockNumber = batch.add({ ...multicall3, functionName: "getBlockNumber" });
  const pools = candidatePools(request.venues, request.tokenIn, request.tokenOut);
  const states = pools.map((pool) => addState(batch, pool));
  // Quoters come last: what they leave of the gas is all that is needed.
  const quoters = pools.map((pool) =>
    withQuoters && pool.kind === "v3" ? batch.add(quoterCall(pool, request)) : undefined,
  );
  try {
    await batch.send(client, request.chain, at);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    return undefined;
  }
  return {
    blockNumber: blockNumber() ?? 0n,
    pools: pools.map((pool, index) => ({
      pool,
      reserves: states[index]?.reserves?.(),
      hasTraded: states[index]?.cumulative?.() !== 0n,
      sqrtPriceX96: states[index]?.slot0?.()?.[0],
      quoted: quoters[index]?.(),
    })),
  };
}

function addState(batch: ReadBatch, pool: PoolCandidate) {
  const args = [] as const;
  if (pool.kind === "v3") {
    const contract = { address: pool.address, abi: v3PoolAbi, args };
    return { slot0: batch.add({ ...contract, functionName: "slot0" }) };
  }
  const contract = { address: pool.address, abi: v2PairAbi, args };
  return {
    reserves: batch.add({ ...contract, functionName: "getReserves" }),
    cumulative: batch.add({ ...contract, functionName: "price0CumulativeLast" }),
  };
}

function quoterCall(pool: PoolCandidate, request: TradeRequest) {
  const { tokenIn, tokenOut, amountIn } = request;
  const params = { tokenIn, tokenOut, amountIn, fee: pool.feePips, sqrtPriceLimitX96: 0n };
  return {
    address: checksummed(venueOf(request, pool).quoter),
    abi: quoterV2Abi,
    functionName: "quoteExactInputSingle",
    args: [params],
  } as const;
}

/** Asks the quoter of a pool that exists but gave no answer among the others. */
async function completeReading(
  client: PublicClient,
  request: TradeRequest,
  reading: PoolReading,
  blockNumber: bigint,
): Promise<PoolReading> {
  const isComplete = reading.quoted !== undefined || !reading.sqrtPriceX96;
  if (isComplete || request.amountIn > MAX_V3_AMOUNT_IN) return reading;
  try {
    const call = quoterCall(reading.pool, request);
    const { result } = await client.simulateContract({ ...call, blockNumber });
    return { ...reading, quoted: result };
  } catch (error) {
    if (isUnreachable(error)) throw new ApiError("UPSTREAM_UNREACHABLE");
    return reading;
  }
}

/** What a pool pays, its price before the trade, and the gas. */
interface Figures {
  readonly amountOut: bigint;
  readonly spot: Ratio;
  readonly gas: bigint;
}

function toRoute(reading: PoolReading, request: TradeRequest): PricedRoute | undefined {
  const { pool } = reading;
  const figures = pool.kind === "v2" ? v2Figures(reading, request) : v3Figures(reading, request);
  if (!figures) return undefined;
  const { amountOut, spot, gas } = figures;
  const { tokenIn, tokenOut, amountIn } = request;
  const kept = afterFeePips(pool.feePips);
  const impact = priceImpactPercent(amountIn, amountOut, spot, kept) / 100;
  const hop = {
    venue: venueOf(request, pool),
    pool: pool.address,
    feePips: pool.feePips,
    tokenIn,
    tokenOut,
    amountIn,
    amountOut,
    impact,
  };
  return {
    type: "single",
    hops: [hop],
    amountOut,
    gas,
    unseenGas: unseenGas([workedPool(reading)]),
    netOut: amountOut,
    impact,
    kept: 1 - pool.feePips / 1e6,
  };
}

function workedPool({ pool, hasTraded }: PoolReading): HopWork["pool"] {
  return pool.kind === "v2" ? { kind: "v2", hasTraded } : { kind: "v3" };
}

function venueOf({ venues }: TradeRequest, { venueId }: PoolCandidate): Venue {
  const venue = venues.find(({ id }) => id === venueId);
  if (!venue) throw new Error(`venue ${venueId} was not asked for`);
  return venue;
}

function v2Figures(
  { pool, reserves, hasTraded }: PoolReading,
  { tokenIn, tokenOut, amountIn }: TradeRequest,
): Figures | undefined {
  if (!reserves) return undefined;
  const [reserve0, reserve1] = reserves;
  const [reserveIn, reserveOut] = sortsBefore(tokenIn, tokenOut)
    ? [reserve0, reserve1]
    : [reserve1, reserve0];
  const pair = { reserveIn, reserveOut, kept: afterFeePips(pool.feePips) };
  const amountOut = v2AmountOut(pair, amountIn);
  if (amountOut === undefined) return undefined;
  const work = {
    pool: { kind: "v2" as const, hasTraded },
    tokenIn,
    tokenOut,
    ticksCrossed: 0,
    emptyWords: 0,
  };
  return { amountOut, spot: v2SpotPrice(pair), gas: routeGas([work]) };
}

/**
 * QuoterV2 does not revert when a pool runs dry: it gives what the pool could fill, which is told
 * by the price having hit the end of its range.
 */
function v3Figures(
  { sqrtPriceX96, quoted }: PoolReading,
  { tokenIn, tokenOut }: TradeRequest,
): Figures | undefined {
  if (!quoted || !sqrtPriceX96) return undefined;
  const [amountOut, sqrtPriceAfter, , poolGas] = quoted;
  const zeroForOne = sortsBefore(tokenIn, tokenOut);
  if (amountOut === 0n || isAtPriceLimit(sqrtPriceAfter, zeroForOne)) return undefined;
  return { amountOut, spot: v3SpotPrice(sqrtPriceX96, zeroForOne), gas: v3SwapGas(poolGas) };
}

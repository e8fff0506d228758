import { encodeFunctionData, type Hex, zeroAddress } from "viem";
import { type Random, seededRandom } from "../../lib/clock.ts";
import { readArtifact } from "./artifacts.ts";
import { usdMicros, type V3Pool } from "./liquidity.ts";
import { atomicOf, approveAll, type SandboxToken, type SandboxTokens } from "./tokens.ts";
import type { Contract, TransactionList } from "./transactions.ts";

/** Addresses of one v3 venue. */
export interface V3Venue {
  readonly factory: Hex;
  readonly router: Hex;
  readonly quoter: Hex;
  readonly positions: Hex;
}

/** Fee tiers in pips and their tick spacings; 100 must be enabled, the others are built in. */
export const TICK_SPACINGS = { 100: 1, 500: 10, 3_000: 60, 10_000: 200 } as const;

const NEVER = 2n ** 40n;
/** Share of a pool's money in its full-range position, so that no price is without liquidity. */
const FULL_RANGE_SHARE = 0.02;
const MAX_TICK = 887_272;
/** A block's gas holds about sixty positions. */
const POSITIONS_PER_CALL = 20;

/** Deploys a v3 factory with router, quoter and position manager, and fills the pools. */
export function deployUniswapV3(
  list: TransactionList,
  tokens: SandboxTokens,
  provider: Hex,
  pools: readonly V3Pool[],
): V3Venue {
  const factory = list.deploy("v3 factory", readArtifact("v3Factory"));
  const links = [factory.address, tokens.WETH.contract.address];
  const router = list.deploy("v3 router", readArtifact("v3Router"), links);
  const quoter = list.deploy("v3 quoter", readArtifact("v3Quoter"), links);
  const positions = list.deploy("v3 positions", readArtifact("v3Positions"), [
    ...links,
    zeroAddress,
  ]);
  list.call(factory, "enableFeeAmount", [100, TICK_SPACINGS[100]]);
  approveAll(list, tokens, positions.address);
  for (const [index, pool] of pools.entries()) {
    fillPool(list, positions, tokens, provider, pool, seededRandom(index + 1));
  }
  return {
    factory: factory.address,
    router: router.address,
    quoter: quoter.address,
    positions: positions.address,
  };
}

function fillPool(
  list: TransactionList,
  positions: Contract,
  tokens: SandboxTokens,
  provider: Hex,
  pool: V3Pool,
  random: Random,
): void {
  const [token0, token1] = sortTokens(tokens[pool.pair[0]], tokens[pool.pair[1]]);
  const addresses = [token0.contract.address, token1.contract.address] as const;
  const { fee } = pool;
  list.call(positions, "createAndInitializePoolIfNecessary", [
    ...addresses,
    fee,
    sqrtPriceX96(token0, token1),
  ]);
  const mints = positionRanges(pool, marketTick(token0, token1), random).map((range) =>
    encodeFunctionData({
      abi: positions.abi,
      functionName: "mint",
      args: [
        {
          token0: addresses[0],
          token1: addresses[1],
          fee,
          tickLower: range.lower,
          tickUpper: range.upper,
          amount0Desired: atomicOf(token0, range.usdPerSide),
          amount1Desired: atomicOf(token1, range.usdPerSide),
          amount0Min: 0n,
          amount1Min: 0n,
          recipient: provider,
          deadline: NEVER,
        },
      ],
    }),
  );
  for (let from = 0; from < mints.length; from += POSITIONS_PER_CALL) {
    list.call(positions, "multicall", [mints.slice(from, from + POSITIONS_PER_CALL)]);
  }
}

interface PositionRange {
  readonly lower: number;
  readonly upper: number;
  /** Whole US dollars offered of each token; a range beside the price takes only one of them. */
  readonly usdPerSide: number;
}

/** One position over all prices, then overlapping ones whose bounds are drawn at random. */
function positionRanges(pool: V3Pool, market: number, random: Random): PositionRange[] {
  const spacing = TICK_SPACINGS[pool.fee];
  const align = (tick: number) => Math.floor(tick / spacing) * spacing;
  const fullRange = Math.floor(MAX_TICK / spacing) * spacing;
  const usdPerSide = (share: number) => Math.floor((pool.usdTotal * share) / 2);
  const ranges: PositionRange[] = [
    { lower: -fullRange, upper: fullRange, usdPerSide: usdPerSide(FULL_RANGE_SHARE) },
  ];
  const share = (1 - FULL_RANGE_SHARE) / (pool.positions - 1);
  // A tick is a bps of price.
  while (ranges.length < pool.positions) {
    const lower = align(market - pool.spreadBps * random() ** 2);
    const upper = align(market + pool.spreadBps * random() ** 2) + spacing;
    ranges.push({ lower, upper, usdPerSide: usdPerSide(share) });
  }
  return ranges;
}

function sortTokens(a: SandboxToken, b: SandboxToken): [SandboxToken, SandboxToken] {
  return a.contract.address.toLowerCase() < b.contract.address.toLowerCase() ? [a, b] : [b, a];
}

/** The market price of token0 in token1, both in atomic units, as numerator and denominator. */
function marketPrice(token0: SandboxToken, token1: SandboxToken): [bigint, bigint] {
  return [
    usdMicros[token0.symbol] * 10n ** BigInt(token1.decimals),
    usdMicros[token1.symbol] * 10n ** BigInt(token0.decimals),
  ];
}

function marketTick(token0: SandboxToken, token1: SandboxToken): number {
  const [numerator, denominator] = marketPrice(token0, token1);
  return Math.floor(Math.log(Number(numerator) / Number(denominator)) / Math.log(1.0001));
}

/** sqrt(price) as a Q64.96 number, the form of the v3 whitepaper's §6.1. */
function sqrtPriceX96(token0: SandboxToken, token1: SandboxToken): bigint {
  const [numerator, denominator] = marketPrice(token0, token1);
  return squareRoot((numerator << 192n) / denominator);
}

/** Largest integer whose square is at most `value` (Newton's method, falling from above). */
function squareRoot(value: bigint): bigint {
  let root = 1n << BigInt(Math.ceil(value.toString(2).length / 2));
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

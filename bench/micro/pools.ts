import { type Address, getAddress, toHex } from "viem";
import { type MarketPool, sortsBefore } from "../../src/market/index.ts";
import { sqrtPriceAtTick } from "../../src/market/tickMath.ts";

const TICK_SPACING = 60;
const UNIT = 10n ** 19n;
/** Fees of a pair's v3 pools. */
export const FEES_PIPS = [500, 3_000];

/**
 * A v3 pool whose liquidity changes at every 60th tick around the price, highest in the middle.
 * @param tick - where the price is, within 1,200 ticks of 0
 */
export function ladder(tick = 30, feePips = 3_000) {
  const ticks = Array.from({ length: 41 }, (_, step) => (step - 20) * TICK_SPACING).map(
    (index) => ({
      index,
      liquidityNet: index <= 0 ? UNIT : -UNIT,
      liquidityGross: UNIT,
      sqrtPriceX96: sqrtPriceAtTick(index),
    }),
  );
  const below = ticks.filter(({ index }) => index <= tick);
  const liquidity = below.reduce((sum, { liquidityNet }) => sum + liquidityNet, 0n);
  const sqrtPriceX96 = sqrtPriceAtTick(tick);
  return { sqrtPriceX96, tick, liquidity, feePips, tickSpacing: TICK_SPACING, ticks };
}

/**
 * A v3 pool for each fee and a v2 pool of two tokens, at prices a little apart.
 * @param first - how many pools there are already; decides addresses and prices
 */
export function poolsOfPair(tokenA: Address, tokenB: Address, first: number): MarketPool[] {
  const [token0, token1] = sortsBefore(tokenA, tokenB) ? [tokenA, tokenB] : [tokenB, tokenA];
  const key = (index: number, feePips: number) => ({
    address: addressOf(0x10_0000 + first + index),
    token0,
    token1,
    feePips,
  });
  const tick = ((first * 7) % 40) - 20;
  return [
    ...FEES_PIPS.map((feePips, index) => ({
      kind: "v3" as const,
      venueId: "venue-a",
      ...ladder(tick, feePips),
      ...key(index, feePips),
    })),
    {
      kind: "v2" as const,
      venueId: "venue-b",
      ...key(FEES_PIPS.length, 3_000),
      reserve0: 10n ** 19n,
      reserve1: 10n ** 19n,
      hasTraded: true,
    },
  ];
}

/** An address made of a number. */
export function addressOf(value: number): Address {
  return getAddress(toHex(value, { size: 20 }));
}

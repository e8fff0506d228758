import { type Address, getAddress } from "viem";
import type { Venue } from "../chains/index.ts";
import { v2PairAddress, v3PoolAddress } from "../market/index.ts";

/** Tiers of Uniswap v3 factories, in pips, for venues that name none of their own. */
const UNISWAP_V3_TIERS = [100, 500, 3_000, 10_000];
const UNISWAP_V2_FEE_BPS = 30;

/** One pool of a venue that trades a pair, whether it exists or not. */
export interface PoolRef {
  readonly venue: Venue;
  readonly address: Address;
  /** The pool's fee, millionths of the input. */
  readonly feePips: number;
}

/**
 * Every pool the venues can have for a pair. Addresses follow from the factories by CREATE2, so
 * none is ever taken from a caller or a node.
 */
export function poolsOf(venues: readonly Venue[], tokenA: Address, tokenB: Address): PoolRef[] {
  return venues.flatMap((venue) => {
    if (venue.type === "v2") {
      const feePips = (venue.feeBps ?? UNISWAP_V2_FEE_BPS) * 100;
      return [{ venue, address: v2PairAddress(venue, tokenA, tokenB), feePips }];
    }
    return (venue.feeTiers ?? UNISWAP_V3_TIERS).map((feePips) => ({
      venue,
      address: v3PoolAddress(venue, tokenA, tokenB, feePips),
      feePips,
    }));
  });
}

/** An address in its checksummed form; any casing is taken. */
export function checksummed(address: string): Address {
  return getAddress(address.toLowerCase());
}

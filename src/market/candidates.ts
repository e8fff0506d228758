import { type Address, getAddress } from "viem";
import type { Venue } from "../chains/index.ts";
import { sortsBefore, v2PairAddress, v3PoolAddress } from "./poolAddress.ts";
import type { PoolKey } from "./pool.ts";

/** Tiers of Uniswap v3 factories, in pips, for venues that name none of their own. */
const UNISWAP_V3_TIERS = [100, 500, 3_000, 10_000];
const UNISWAP_V2_FEE_BPS = 30;

/** A pool a venue can have, whether it exists or not. */
export interface PoolCandidate extends PoolKey {
  readonly kind: "v2" | "v3";
  readonly factory: Address;
}

/**
 * Every pool the venues can have for a pair. Addresses follow from the factories by CREATE2, so
 * none is ever taken from a node.
 */
export function candidatePools(
  venues: readonly Venue[],
  tokenA: Address,
  tokenB: Address,
): PoolCandidate[] {
  const [token0, token1] = sortsBefore(tokenA, tokenB) ? [tokenA, tokenB] : [tokenB, tokenA];
  return venues.flatMap((venue): PoolCandidate[] => {
    const { id: venueId, type: kind } = venue;
    const factory = checksummed(venue.factory);
    if (kind === "v2") {
      const feePips = (venue.feeBps ?? UNISWAP_V2_FEE_BPS) * 100;
      const address = v2PairAddress(venue, token0, token1);
      return [{ venueId, kind, factory, address, token0, token1, feePips }];
    }
    return (venue.feeTiers ?? UNISWAP_V3_TIERS).map((feePips) => {
      const address = v3PoolAddress(venue, token0, token1, feePips);
      return { venueId, kind, factory, address, token0, token1, feePips };
    });
  });
}

/** Addresses remembered in checksummed form, which takes a hash to find. */
const MAX_REMEMBERED = 4_096;
const remembered = new Map<string, Address>();

/** An address in its checksummed form; any casing is taken. */
export function checksummed(address: string): Address {
  const known = remembered.get(address);
  if (known) return known;
  const found = getAddress(address.toLowerCase());
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  remembered.set(address, found);
  return found;
}

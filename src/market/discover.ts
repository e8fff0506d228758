import type { Address } from "viem";
import type { Venue } from "../chains/index.ts";
import { v2Abi, v3Abi } from "./abi.ts";
import { Aggregate } from "./aggregate.ts";
import { candidatePools, type PoolCandidate } from "./candidates.ts";
import { squareRoot } from "./integers.ts";
import { type BlockRef, pairKey, type PoolKey } from "./pool.ts";
import type { PinnedReader } from "./reader.ts";

/** A pool that exists, with what its loading needs. */
export type FoundPool = PoolKey &
  ({ readonly kind: "v2" } | { readonly kind: "v3"; readonly tickSpacing: number });

/** Two tokens; addresses are checksummed. */
export type TokenPair = readonly [Address, Address];

export interface DiscoveryOptions {
  readonly venues: readonly Venue[];
  readonly pairs: readonly TokenPair[];
  readonly multicall3: Address;
  readonly block: BlockRef;
}

interface Ranked {
  readonly pool: FoundPool;
  /** `sqrt(amount0 · amount1)`, which is what v3 calls liquidity; comparable within a pair. */
  readonly liquidity: bigint;
}

/**
 * The pools of these pairs that exist, asked of the venues' factories at one block. A pool counts
 * only where the factory's answer is the address that follows from CREATE2.
 * @returns the deepest pool of every pair first, then every pair's second, and so on
 */
export async function discoverPools(
  reader: PinnedReader,
  { venues, pairs, multicall3, block }: DiscoveryOptions,
): Promise<FoundPool[]> {
  const aggregate = new Aggregate();
  const readings = pairs
    .flatMap(([tokenA, tokenB]) => candidatePools(venues, tokenA, tokenB))
    .map((candidate) =>
      candidate.kind === "v2" ? askPair(aggregate, candidate) : askPool(aggregate, candidate),
    );
  await aggregate.send(reader, multicall3, block);
  return byDepth(readings.map((read) => read()).filter((found) => found !== undefined));
}

function askPair(aggregate: Aggregate, candidate: PoolCandidate): () => Ranked | undefined {
  const { address, factory, token0, token1 } = candidate;
  const pair = aggregate.add(factory, v2Abi, "getPair", [token0, token1]);
  const reserves = aggregate.add(address, v2Abi, "getReserves");
  return () => {
    const amounts = reserves();
    if (pair() !== address || !amounts) return undefined;
    const pool: FoundPool = { ...keyOf(candidate), kind: "v2" };
    return { pool, liquidity: squareRoot(amounts[0] * amounts[1]) };
  };
}

function askPool(aggregate: Aggregate, candidate: PoolCandidate): () => Ranked | undefined {
  const { address, factory, token0, token1, feePips } = candidate;
  const pool = aggregate.add(factory, v3Abi, "getPool", [token0, token1, feePips]);
  const tickSpacing = aggregate.add(address, v3Abi, "tickSpacing");
  const liquidity = aggregate.add(address, v3Abi, "liquidity");
  return () => {
    const spacing = tickSpacing();
    if (pool() !== address || !spacing) return undefined;
    const found: FoundPool = { ...keyOf(candidate), kind: "v3", tickSpacing: spacing };
    return { pool: found, liquidity: liquidity() ?? 0n };
  };
}

function keyOf({ venueId, address, token0, token1, feePips }: PoolCandidate): PoolKey {
  return { venueId, address, token0, token1, feePips };
}

function byDepth(found: readonly Ranked[]): FoundPool[] {
  const pairs = Map.groupBy(found, ({ pool }) => pairKey(pool.token0, pool.token1));
  const ranked = [...pairs.values()].flatMap((pools) =>
    pools
      .sort((a, b) => (a.liquidity > b.liquidity ? -1 : a.liquidity < b.liquidity ? 1 : 0))
      .map(({ pool }, rank) => ({ pool, rank })),
  );
  return ranked.sort((a, b) => a.rank - b.rank).map(({ pool }) => pool);
}

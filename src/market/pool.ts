import type { Address, Hex } from "viem";
import { afterFeePips } from "./impact.ts";
import type { V2Pair } from "./v2.ts";
import type { V3Pool, V3Tick } from "./v3.ts";

/** What of a pool never changes. Addresses are checksummed. */
export interface PoolKey {
  /** Id of the venue in the registry. */
  readonly venueId: string;
  readonly address: Address;
  /** The lower of the two addresses. */
  readonly token0: Address;
  readonly token1: Address;
  /** The pool's fee, millionths of the input. */
  readonly feePips: number;
}

/** A constant-product pair at one block. */
export interface V2MarketPool extends PoolKey {
  readonly kind: "v2";
  readonly reserve0: bigint;
  readonly reserve1: bigint;
  /** False until the pair's price accumulators were first written, which costs more gas. */
  readonly hasTraded: boolean;
}

/** An initialised tick with all that decides when it ceases to be one. */
export interface V3TickState extends V3Tick {
  /** Liquidity of all positions that begin or end here; the tick is initialised while above 0. */
  readonly liquidityGross: bigint;
}

/** A concentrated-liquidity pool at one block; goes into `v3SwapExactIn` as it is. */
export interface V3MarketPool extends PoolKey, V3Pool {
  readonly kind: "v3";
  readonly feePips: number;
  readonly ticks: readonly V3TickState[];
}

/** A pool's whole state at one block; never changed, only replaced. */
export type MarketPool = V2MarketPool | V3MarketPool;

/** A block as the market refers to it. */
export interface BlockRef {
  readonly number: bigint;
  readonly hash: Hex;
  readonly parentHash: Hex;
  /** The block's own timestamp, ms since the epoch. */
  readonly timestampMs: number;
  /** Least price of a unit of gas in the block, wei; undefined on chains without EIP-1559. */
  readonly baseFeeWei?: bigint | undefined;
}

/** All quotable pools of a chain at one block. Immutable: a quote that holds one sees one block. */
export interface Snapshot {
  readonly chainId: number;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  /** The block's own timestamp, ms since the epoch. */
  readonly timestampMs: number;
  /** The block's base fee, wei per unit of gas; undefined on chains without EIP-1559. */
  readonly baseFeeWei: bigint | undefined;
  readonly pools: readonly MarketPool[];
  /** False while pools that are known to exist have yet to be loaded. */
  readonly isComplete: boolean;
  /** The pools of two tokens, in either order and any casing. */
  poolsOf(tokenA: string, tokenB: string): readonly MarketPool[];
}

/** A v2 pool in one trade direction, as the pair math takes it. */
export function v2PairOf(pool: V2MarketPool, zeroForOne: boolean): V2Pair {
  const kept = afterFeePips(pool.feePips);
  return zeroForOne
    ? { reserveIn: pool.reserve0, reserveOut: pool.reserve1, kept }
    : { reserveIn: pool.reserve1, reserveOut: pool.reserve0, kept };
}

/** Whether a pool has a price at all: a pair with reserves, or an initialised v3 pool. */
export function hasPrice(pool: MarketPool): boolean {
  return pool.kind === "v2"
    ? pool.reserve0 > 0n && pool.reserve1 > 0n
    : pool.sqrtPriceX96 > 0n && (pool.liquidity > 0n || pool.ticks.length > 0);
}

/** Key of a pair of tokens, the same for either order and any casing. */
export function pairKey(tokenA: string, tokenB: string): string {
  const [a, b] = [tokenA.toLowerCase(), tokenB.toLowerCase()];
  return a < b ? a + b : b + a;
}

/** A snapshot of these pools; those without a price are left out. */
export function createSnapshot(
  chainId: number,
  block: BlockRef,
  pools: Iterable<MarketPool>,
  isComplete = true,
): Snapshot {
  const quotable = [...pools].filter(hasPrice);
  // Indexed on first use: many blocks pass without a quote.
  let index: Map<string, MarketPool[]> | undefined;
  return {
    chainId,
    blockNumber: block.number,
    blockHash: block.hash,
    timestampMs: block.timestampMs,
    baseFeeWei: block.baseFeeWei,
    pools: quotable,
    isComplete,
    poolsOf(tokenA, tokenB) {
      index ??= Map.groupBy(quotable, ({ token0, token1 }) => pairKey(token0, token1));
      return index.get(pairKey(tokenA, tokenB)) ?? [];
    },
  };
}

import type { V3TickState } from "./pool.ts";
import { MAX_TICK } from "./tickMath.ts";

/** What was read of a v3 pool: its price and liquidity, and the ticks of the words asked for. */
export interface V3Reading {
  readonly tickSpacing: number;
  readonly sqrtPriceX96: bigint;
  readonly tick: number;
  readonly liquidity: bigint;
  /** Ascending. */
  readonly ticks: readonly V3TickState[];
}

/** All bitmap words a pool of this spacing can use. */
export function allWords(tickSpacing: number): { readonly first: number; readonly last: number } {
  const edge = Math.floor(MAX_TICK / tickSpacing);
  return { first: -edge >> 8, last: edge >> 8 };
}

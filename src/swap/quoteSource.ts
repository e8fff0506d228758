import type { Address } from "viem";
import type { Chain, Venue } from "../chains/index.ts";
import type { Ratio } from "../market/index.ts";
import type { PoolRef } from "./pools.ts";

/** An exact-input trade to be priced. Addresses are checksummed. */
export interface TradeRequest {
  readonly chain: Chain;
  /** Venues to look at; all enabled. */
  readonly venues: readonly Venue[];
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  readonly amountIn: bigint;
}

/** What one pool pays for the whole input. */
export interface PoolQuote extends PoolRef {
  /** Output before the platform fee. */
  readonly amountOut: bigint;
  /** Price of an infinitely small trade without fee: output per input, atomic units. */
  readonly spot: Ratio;
  /** Gas of the executor's transaction, all included. */
  readonly gas: bigint;
}

/** Prices of all pools at one block. */
export interface MarketView {
  readonly blockNumber: bigint;
  /** Pools that exist and can fill the whole input, in no order. */
  readonly quotes: readonly PoolQuote[];
}

/** Where prices come from. Every number is exact for the block it names. */
export interface QuoteSource {
  /** @throws ApiError `UPSTREAM_UNREACHABLE` */
  quote(request: TradeRequest): Promise<MarketView>;
}

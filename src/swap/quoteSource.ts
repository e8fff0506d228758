import type { Address } from "viem";
import type { Chain, Venue } from "../chains/index.ts";
import type { PoolCandidate } from "../market/index.ts";
import type { OutPerGas, RouteType } from "./routing/index.ts";

/** An exact-input trade to be priced. Addresses are checksummed. */
export interface TradeRequest {
  readonly chain: Chain;
  /** Venues to look at; all enabled. */
  readonly venues: readonly Venue[];
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  readonly amountIn: bigint;
}

/** One pool on the way, with exact amounts. */
export interface PricedHop {
  readonly venue: Venue;
  readonly pool: Address;
  /** Millionths of the input. */
  readonly feePips: number;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  /** The curve's part of the loss, as a share of 1. */
  readonly impact: number;
}

/** What a route pays for the whole input. */
export interface PricedRoute {
  readonly type: RouteType;
  /** In the order of execution: a token is sold once everything that buys it is done. */
  readonly hops: readonly PricedHop[];
  /** Output before the platform fee. */
  readonly amountOut: bigint;
  /** Gas of the executor's transaction, all included. */
  readonly gas: bigint;
  /** Gas beyond it that no simulation shows, see `unseenGas`. */
  readonly unseenGas: bigint;
  /** Output less the price of the gas; the output itself where gas has no price. */
  readonly netOut: bigint;
  /** The curves' part of the loss, as a share of 1. */
  readonly impact: number;
  /** What the pools' fees leave, as a share of 1. */
  readonly kept: number;
}

/** Routes at one block. */
export interface MarketView {
  readonly blockNumber: bigint;
  /** Output token per unit of gas; undefined where gas has no price. */
  readonly outPerGas: OutPerGas;
  /** Routes that take the whole input, best first; as many as are answered at least. */
  readonly routes: readonly PricedRoute[];
}

/** A hop to be priced as it stands, through a pool that is proved. */
export interface HopRequest {
  readonly pool: PoolCandidate;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  /** Hops that sell the same token share what there is of it in proportion to these. */
  readonly amountIn: bigint;
}

/** Which state to price with. */
export interface StateChoice {
  /** Oldest state to use, ms; the market's default where left out. */
  readonly maxAgeMs?: number;
  /** A block to read nodes at; the newest where left out. Memory has one block only. */
  readonly blockNumber?: bigint;
}

/** Where prices come from. Every number is exact for the block it names. */
export interface QuoteSource {
  /**
   * Routes of a trade.
   * @throws ApiError `UPSTREAM_UNREACHABLE`
   */
  quote(request: TradeRequest, state?: StateChoice): Promise<MarketView>;
  /**
   * What exactly these hops pay now, in the order of execution.
   * @returns undefined when a pool is not there or cannot take its input
   * @throws ApiError `UPSTREAM_UNREACHABLE`
   */
  price(request: TradeRequest, hops: readonly HopRequest[]): Promise<PricedRoute | undefined>;
}

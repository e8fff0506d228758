export { candidatePools, checksummed, type PoolCandidate } from "./candidates.ts";
export { MarketUnavailableError, type SnapshotRequest } from "./follower.ts";
export { afterFeePips, priceImpactPercent, toFeeBps } from "./impact.ts";
export { type PoolFactory, sortsBefore, v2PairAddress, v3PoolAddress } from "./poolAddress.ts";
export { createMarket, type Market, type MarketDependencies, type MarketStatus } from "./market.ts";
export type { MarketObserver, MarketStep } from "./observer.ts";
export {
  type BlockRef,
  createSnapshot,
  hasPrice,
  type MarketPool,
  pairKey,
  type PoolKey,
  type Snapshot,
  type V2MarketPool,
  v2PairOf,
  type V3MarketPool,
  type V3TickState,
} from "./pool.ts";
export type { Ratio } from "./ratio.ts";
export { v2AmountIn, v2AmountOut, type V2Pair, v2SpotPrice } from "./v2.ts";
export { type ChainReader, NodeAnswerError } from "./reader.ts";
export { transportReader } from "./transportReader.ts";
export {
  isAtPriceLimit,
  type V3Pool,
  v3SpotPrice,
  type V3Swap,
  v3SwapExactIn,
  type V3Tick,
} from "./v3.ts";

export { afterFeeBps, afterFeePips, priceImpactPercent, toFeeBps } from "./impact.ts";
export { type PoolFactory, sortsBefore, v2PairAddress, v3PoolAddress } from "./poolAddress.ts";
export { multiply, type Ratio } from "./ratio.ts";
export { v2AmountIn, v2AmountOut, type V2Pair, v2SpotPrice } from "./v2.ts";
export {
  isAtPriceLimit,
  type V3Pool,
  v3SpotPrice,
  type V3Swap,
  v3SwapExactIn,
  type V3Tick,
} from "./v3.ts";

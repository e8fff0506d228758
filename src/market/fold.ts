import type { PoolEvent, PoolLog } from "./logs.ts";
import type { MarketPool, V2MarketPool, V3MarketPool, V3TickState } from "./pool.ts";
import { lastAtOrBelow } from "./v3.ts";
import { sqrtPriceAtTick } from "./tickMath.ts";

/** Pools by checksummed address. */
export type PoolMap = ReadonlyMap<string, MarketPool>;

/** Pools after some logs. */
export interface Folded {
  /** The same object as before where no log changed a pool. */
  readonly pools: PoolMap;
  /** Addresses of the pools that changed. */
  readonly touched: ReadonlySet<string>;
}

/**
 * Applies logs to pools. Nothing is changed in place: untouched pools stay the same objects.
 * Whether the outcome can be true is for `violationOf` to say.
 * @param logs - in the order they happened; those of other contracts are passed over
 */
export function foldLogs(pools: PoolMap, logs: readonly PoolLog[]): Folded {
  const next = new Map(pools);
  const touched = new Set<string>();
  let blockNumber: bigint | undefined;
  /** Pools as they were when the block began. */
  let before: PoolMap = pools;
  for (const log of logs) {
    const pool = next.get(log.address);
    if (!pool) continue;
    if (log.blockNumber !== blockNumber) {
      blockNumber = log.blockNumber;
      before = new Map(next);
    }
    next.set(log.address, applyEvent(pool, log.event, before.get(log.address) ?? pool));
    touched.add(log.address);
  }
  return touched.size === 0 ? { pools, touched } : { pools: next, touched };
}

function applyEvent(pool: MarketPool, event: PoolEvent, before: MarketPool): MarketPool {
  if (pool.kind === "v2") return event.kind === "sync" ? applySync(pool, event, before) : pool;
  switch (event.kind) {
    case "initialize":
    case "swap": {
      const { kind: _, ...changes } = event;
      return { ...pool, ...changes };
    }
    case "position":
      return applyPosition(pool, event);
    case "sync":
      return pool;
  }
}

/**
 * A pair writes its price accumulators when it had reserves before the block (UniswapV2Pair's
 * `_update`: time has passed since the last one, and neither reserve was 0).
 */
function applySync(
  pool: V2MarketPool,
  { reserve0, reserve1 }: { readonly reserve0: bigint; readonly reserve1: bigint },
  before: MarketPool,
): V2MarketPool {
  const hadReserves = before.kind === "v2" && before.reserve0 > 0n && before.reserve1 > 0n;
  return { ...pool, reserve0, reserve1, hasTraded: pool.hasTraded || hadReserves };
}

/**
 * A mint or burn (UniswapV3Pool's `_modifyPosition`): gross and net liquidity of both ends change,
 * and the liquidity in range when the current tick is inside. The event does not tell the latter.
 */
function applyPosition(
  pool: V3MarketPool,
  event: Extract<PoolEvent, { readonly kind: "position" }>,
): V3MarketPool {
  const { tickLower, tickUpper, liquidityDelta } = event;
  if (liquidityDelta === 0n) return pool;
  const lower = withTick(pool.ticks, tickLower, liquidityDelta, liquidityDelta);
  const ticks = withTick(lower, tickUpper, liquidityDelta, -liquidityDelta);
  const isInRange = tickLower <= pool.tick && pool.tick < tickUpper;
  const liquidity = isInRange ? pool.liquidity + liquidityDelta : pool.liquidity;
  return { ...pool, ticks, liquidity };
}

/** The ticks with one changed, added, or, where no position is left at it, removed. */
function withTick(
  ticks: readonly V3TickState[],
  index: number,
  grossDelta: bigint,
  netDelta: bigint,
): readonly V3TickState[] {
  const position = lastAtOrBelow(ticks, index);
  const known = ticks[position]?.index === index ? ticks[position] : undefined;
  const liquidityGross = (known?.liquidityGross ?? 0n) + grossDelta;
  const liquidityNet = (known?.liquidityNet ?? 0n) + netDelta;
  const head = ticks.slice(0, known ? position : position + 1);
  const tail = ticks.slice(position + 1);
  if (liquidityGross === 0n) return [...head, ...tail];
  const sqrtPriceX96 = known?.sqrtPriceX96 ?? sqrtPriceAtTick(index);
  return [...head, { index, liquidityNet, liquidityGross, sqrtPriceX96 }, ...tail];
}

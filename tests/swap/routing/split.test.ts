import { expect, test } from "bun:test";
import { seededRandom } from "../../../src/lib/clock.ts";
import type { MarketPool } from "../../../src/market/index.ts";
import { swapPool } from "../../../src/swap/routing/execute.ts";
import { findRoutes } from "../../../src/swap/routing/index.ts";
import { anyPool, logUniform, snapshotOf, tokens } from "./networks.ts";
import { bestParallel, realPool } from "./optimiser.ts";

const { A, C } = tokens;
const NETWORKS = 1_000;
const PARTS = 20;

/** The best of all splits in steps of 5 %, exactly: dynamic programming over the pools. */
function bestGrid(pools: readonly MarketPool[], amountIn: bigint): bigint {
  let best: (bigint | undefined)[] = [0n, ...Array.from({ length: PARTS }, () => undefined)];
  for (const pool of pools) {
    const paid = Array.from({ length: PARTS + 1 }, (_, parts) => {
      if (parts === 0) return 0n;
      const share = (amountIn / BigInt(PARTS)) * BigInt(parts);
      return swapPool(pool, pool.token0 === A, share)?.amountOut;
    });
    best = best.map((_, total) => {
      let most: bigint | undefined;
      for (let parts = 0; parts <= total; parts += 1) {
        const [before, more] = [best[total - parts], paid[parts]];
        if (before === undefined || more === undefined) continue;
        if (most === undefined || before + more > most) most = before + more;
      }
      return most;
    });
  }
  return best[PARTS] ?? 0n;
}

test(`${NETWORKS} random splits are the continuous optimum and beat every 5 % grid`, () => {
  const random = seededRandom(4_001);
  let worstBps = 0;
  let [split, unfillable, gainOverGrid] = [0, 0, 0];
  for (let run = 0; run < NETWORKS; run += 1) {
    const price = logUniform(random, 1e-3, 1e3);
    const pools = Array.from({ length: 3 + Math.floor(random() * 6) }, () =>
      anyPool(random, A, C, price, 1e18),
    );
    const amountIn = BigInt(Math.floor(logUniform(random, 1e12, 3e19))) * BigInt(PARTS);
    const choice = findRoutes(
      { lookup: snapshotOf(pools), connectors: [] },
      { tokenIn: A, tokenOut: C, amountIn },
    );
    const optimum = bestParallel(
      pools.map((pool) => realPool(pool, A)),
      Number(amountIn),
    );
    if (!choice) {
      expect(optimum).toBeLessThan(0);
      unfillable += 1;
      continue;
    }
    const { best } = choice;
    const behindBps = (1 - Number(best.amountOut) / optimum) * 1e4;
    worstBps = Math.max(worstBps, behindBps);
    const grid = bestGrid(pools, amountIn);
    expect(best.amountOut).toBeGreaterThanOrEqual(grid);
    gainOverGrid += 1 - Number(grid) / Number(best.amountOut);
    for (const pool of pools) {
      const whole = swapPool(pool, pool.token0 === A, amountIn)?.amountOut ?? 0n;
      expect(best.amountOut).toBeGreaterThanOrEqual(whole);
    }
    const given = best.hops.reduce((sum, hop) => sum + hop.amountIn, 0n);
    expect(given).toBe(amountIn);
    if (best.type === "split") split += 1;
  }
  expect(worstBps).toBeLessThan(0.01);
  expect(split).toBeGreaterThan(NETWORKS / 2);
  expect(unfillable).toBeLessThan(NETWORKS / 5);
  process.stdout.write(
    `worst ${worstBps.toExponential(2)} bps behind the optimum, mean gain over the grid ` +
      `${((gainOverGrid / NETWORKS) * 1e4).toFixed(2)} bps, ${split} splits, ${unfillable} dry\n`,
  );
}, 60_000);

import { expect, test } from "bun:test";
import type { Address } from "viem";
import { type Random, seededRandom } from "../../../src/lib/clock.ts";
import type { MarketPool } from "../../../src/market/index.ts";
import {
  findRoutes,
  type RoutePlan,
  type Step,
  type Trade,
} from "../../../src/swap/routing/index.ts";
import { swapPool } from "../../../src/swap/routing/execute.ts";
import { upperBound } from "./dual.ts";
import { anyPool, everyWay, logUniform, snapshotOf, tokens } from "./networks.ts";

const { A, C, X, Y, W } = tokens;
const NETWORKS_PER_SHAPE = 200;
const PARTS = 20;
/** Less than any two fees together: no market pays for going in circles. */
const SPREAD = 2e-4;

/** Token pairs that have pools, and the connectors among their tokens. */
const shapes: Record<string, { pairs: [Address, Address][]; connectors: Address[] }> = {
  direct: { pairs: [[A, C]], connectors: [] },
  "one connector": {
    pairs: [
      [A, C],
      [A, X],
      [X, C],
    ],
    connectors: [X],
  },
  "two connectors": {
    pairs: [
      [A, C],
      [A, X],
      [X, C],
      [A, Y],
      [Y, C],
    ],
    connectors: [X, Y],
  },
  "three hops": {
    pairs: [
      [A, X],
      [X, Y],
      [Y, C],
      [A, Y],
      [X, C],
    ],
    connectors: [X, Y],
  },
  "five tokens": { pairs: pairsOf([A, C, X, Y, W]), connectors: [X, Y, W] },
};

function pairsOf(all: readonly Address[]): [Address, Address][] {
  return all.flatMap((from, index) =>
    all.slice(index + 1).map((to): [Address, Address] => [from, to]),
  );
}

/** One or two pools of either kind per pair, more where there is one pair only. */
function randomPools(random: Random, pairs: readonly [Address, Address][]): MarketPool[] {
  const worth = new Map(
    [A, C, X, Y, W].map((token) => [token, token === A ? 1 : logUniform(random, 0.1, 10)]),
  );
  return pairs.flatMap(([from, to]) => {
    const price = worth.get(from)! / worth.get(to)!;
    const scale = 1e24 / worth.get(from)!;
    const most = pairs.length === 1 ? 8 : 2;
    return Array.from({ length: 1 + Math.floor(random() * most) }, () =>
      anyPool(random, from, to, price, scale, SPREAD),
    );
  });
}

/** The continuous optimum over all ways of up to three pools, from above. */
function optimum(
  pools: readonly MarketPool[],
  connectors: readonly Address[],
  trade: Trade,
  plan: RoutePlan,
): number {
  const enough = Number(plan.amountOut) * (1 + 1e-7);
  const bounds = [plan.hops, []].map((near) =>
    upperBound(pools, connectors, trade, { enough, near }),
  );
  return Math.min(...bounds);
}

/** What a way pays for an amount; undefined where a pool cannot take it. */
function payout(steps: readonly Step[], amountIn: bigint): bigint | undefined {
  let amount: bigint | undefined = amountIn;
  for (const { pool, tokenIn } of steps) {
    if (amount === undefined) return undefined;
    amount = swapPool(pool, pool.token0 === tokenIn, amount)?.amountOut;
  }
  return amount;
}

/** The best of all splits in steps of 5 % over ways that share no pool, exactly. */
function bestGrid(ways: readonly (readonly Step[])[], amountIn: bigint): bigint {
  const ranked = ways
    .map((steps) => ({ steps, tenth: payout(steps, amountIn / 10n) ?? 0n }))
    .toSorted((a, b) => (a.tenth < b.tenth ? 1 : -1));
  const apart: (readonly Step[])[] = [];
  const used = new Set<MarketPool>();
  for (const { steps } of ranked) {
    if (steps.some(({ pool }) => used.has(pool))) continue;
    for (const { pool } of steps) used.add(pool);
    apart.push(steps);
  }
  let best: (bigint | undefined)[] = [0n, ...Array.from({ length: PARTS }, () => undefined)];
  for (const steps of apart) {
    const paid = Array.from({ length: PARTS + 1 }, (_, parts) =>
      parts === 0 ? 0n : payout(steps, (amountIn / BigInt(PARTS)) * BigInt(parts)),
    );
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

for (const [name, { pairs, connectors }] of Object.entries(shapes)) {
  test(`${NETWORKS_PER_SHAPE} networks, ${name}: the continuous optimum, above every grid and single`, () => {
    const random = seededRandom(2_026);
    let [worstBps, splits, merged, unfillable] = [0, 0, 0, 0];
    for (let run = 0; run < NETWORKS_PER_SHAPE; run += 1) {
      const pools = randomPools(random, pairs);
      const amountIn = BigInt(Math.floor(logUniform(random, 1e18, 4e22))) * BigInt(PARTS);
      const trade = { tokenIn: A, tokenOut: C, amountIn };
      const terms = { lookup: snapshotOf(pools), connectors };
      const choice = findRoutes(terms, trade);
      const half = findRoutes(terms, { ...trade, amountIn: amountIn / 2n });
      // Pools so full that less input pays more: the rest would have to be thrown away.
      if (!choice || (half && half.best.amountOut >= choice.best.amountOut)) {
        unfillable += 1;
        continue;
      }
      const { best } = choice;
      const behindBps =
        (1 - Number(best.amountOut) / optimum(pools, connectors, trade, best)) * 1e4;
      expect(behindBps).toBeLessThan(0.01);
      worstBps = Math.max(worstBps, behindBps);

      const ways = everyWay(pools, A, C);
      expect(best.amountOut).toBeGreaterThanOrEqual(bestGrid(ways, amountIn));
      for (const steps of ways) {
        expect(best.amountOut).toBeGreaterThanOrEqual(payout(steps, amountIn) ?? 0n);
      }
      if (best.type === "split") splits += 1;
      const bought = best.hops.map(({ tokenOut }) => tokenOut).filter((token) => token !== C);
      if (new Set(bought).size < bought.length) merged += 1;
    }
    process.stdout.write(
      `${name}: worst ${worstBps.toExponential(1)} bps behind the optimum, ${splits} splits, ` +
        `${merged} that merge on the way, ${unfillable} dry\n`,
    );
    expect(splits).toBeGreaterThan(NETWORKS_PER_SHAPE / 2);
    if (connectors.length > 0) expect(merged).toBeGreaterThan(NETWORKS_PER_SHAPE / 10);
    expect(unfillable).toBeLessThan(NETWORKS_PER_SHAPE / 10);
  }, 60_000);
}

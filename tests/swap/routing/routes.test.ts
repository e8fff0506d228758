import { describe, expect, test } from "bun:test";
import type { Address } from "viem";
import { type Random, seededRandom } from "../../../src/lib/clock.ts";
import type { MarketPool } from "../../../src/market/index.ts";
import { routeGas } from "../../../src/swap/gasModel.ts";
import { runLegs } from "../../../src/swap/routing/execute.ts";
import { findRoutes, hopLoss, routeLoss, type Step } from "../../../src/swap/routing/index.ts";
import { anyPool, logUniform, pick, snapshotOf, tokens, v2Pool, v3Pool } from "./networks.ts";

const { A, C, X, Y, W } = tokens;
const connectors = [X, Y, W];
const gas = { priceWei: 20_000_000_000n, nativeToken: W, weiPerUnit: 1 };

/** A market of four tokens with several pools per pair, prices a percent apart. */
function randomMarket(random: Random): MarketPool[] {
  const worth = new Map<Address, number>([
    [A, 1],
    [C, logUniform(random, 0.1, 10)],
    [X, logUniform(random, 0.1, 10)],
    [Y, logUniform(random, 0.1, 10)],
    [W, logUniform(random, 1_000, 4_000)],
  ]);
  const all = [...worth.keys()];
  return all.flatMap((from, index) =>
    all.slice(index + 1).flatMap((to) => {
      const price = worth.get(from)! / worth.get(to)!;
      const scale = 1e24 / worth.get(from)!;
      const count = Math.floor(random() * 3) + (from === A && to === C ? 1 : 0);
      return Array.from({ length: count }, () => anyPool(random, from, to, price, scale));
    }),
  );
}

/** Every way of one leg, by brute force. */
function everySingle(pools: readonly MarketPool[], amountIn: bigint) {
  const routes: { amountOut: bigint; gas: bigint; hops: number }[] = [];
  const walk = (token: Address, steps: Step[]): void => {
    if (token === C) {
      const run = runLegs([{ amountIn, steps }]);
      if ("legs" in run) {
        routes.push({ amountOut: run.amountOut, gas: routeGas(run.legs), hops: steps.length });
      }
      return;
    }
    if (steps.length === 3) return;
    for (const pool of pools) {
      if (pool.token0 !== token && pool.token1 !== token) continue;
      const next = pool.token0 === token ? pool.token1 : pool.token0;
      if (next === A || steps.some(({ tokenIn }) => tokenIn === next)) continue;
      walk(next, [...steps, { pool, tokenIn: token, tokenOut: next }]);
    }
  };
  walk(A, []);
  return routes;
}

describe("random markets of five tokens", () => {
  for (const isPriced of [false, true]) {
    test(`never below the best single route, ${isPriced ? "net of gas" : "gross"}`, () => {
      const random = seededRandom(isPriced ? 91 : 92);
      const types = { single: 0, multi: 0, split: 0 };
      for (let run = 0; run < 500; run += 1) {
        const pools = randomMarket(random);
        const amountIn = BigInt(Math.floor(logUniform(random, isPriced ? 1e17 : 1, 1e24)));
        const choice = findRoutes(
          { lookup: snapshotOf(pools), connectors, gas: isPriced ? gas : undefined },
          { tokenIn: A, tokenOut: C, amountIn },
        );
        const cost = (units: bigint) => BigInt(Math.ceil(Number(units) * (choice?.outPerGas ?? 0)));
        const best = everySingle(pools, amountIn).reduce<bigint | undefined>((most, route) => {
          const net = route.amountOut - cost(route.gas);
          return most === undefined || net > most ? net : most;
        }, undefined);
        if (!choice) {
          expect(best).toBeUndefined();
          continue;
        }
        types[choice.best.type] += 1;
        const { legs } = choice.best;
        expect(legs.length).toBeLessThanOrEqual(8);
        expect(legs.reduce((sum, leg) => sum + leg.amountIn, 0n)).toBe(amountIn);
        if (best !== undefined) expect(choice.best.netOut).toBeGreaterThanOrEqual(best);
        for (const { hops } of legs) {
          expect(hops.length).toBeLessThanOrEqual(3);
          const seen = [A, ...hops.map(({ tokenOut }) => tokenOut)];
          expect(new Set(seen).size).toBe(seen.length);
          expect(seen.at(-1)).toBe(C);
        }
        // What is planned is what the pools do, in that order.
        const again = runLegs(legs.map((leg) => ({ amountIn: leg.amountIn, steps: leg.hops })));
        expect("amountOut" in again && again.amountOut).toBe(choice.best.amountOut);
        for (const other of choice.alternatives) {
          expect(other.netOut).toBeLessThanOrEqual(choice.best.netOut);
        }
      }
      expect(Math.min(...Object.values(types))).toBeGreaterThan(5);
    }, 120_000);
  }

  test("(1 − impact)(1 − fee) is output over spot, to 1e-9, for every type", () => {
    const random = seededRandom(93);
    const types = new Set<string>();
    for (let run = 0; run < 200; run += 1) {
      const pools = randomMarket(random);
      const amountIn = BigInt(Math.floor(logUniform(random, 1e15, 1e24)));
      const choice = findRoutes(
        { lookup: snapshotOf(pools), connectors },
        { tokenIn: A, tokenOut: C, amountIn },
      );
      for (const plan of choice ? [choice.best, ...choice.alternatives] : []) {
        const { spotOut, kept, impact } = routeLoss(plan.legs);
        expect(impact).toBeGreaterThanOrEqual(0);
        expect(impact).toBeLessThanOrEqual(1);
        const product = (1 - impact) * kept;
        expect(Math.abs(product - Number(plan.amountOut) / spotOut)).toBeLessThan(1e-9);
        if (plan.legs.length === 1) {
          const byHop = plan.legs[0]!.hops.map((hop) => hopLoss(hop, hop.amountIn, hop.amountOut));
          const keptByHop = byHop.reduce((share, loss) => share * loss.kept, 1);
          expect(Math.abs(keptByHop - kept)).toBeLessThan(1e-12);
        }
        types.add(plan.type);
      }
    }
    expect(types.size).toBe(3);
  });
});

const at = (lookup: MarketPool[], amountIn: bigint, terms = {}) =>
  findRoutes(
    { lookup: snapshotOf(lookup), connectors, ...terms },
    { tokenIn: A, tokenOut: C, amountIn },
  );

describe("edges", () => {
  test("no pools, and pools of other tokens only: no route", () => {
    expect(at([], 1_000n)).toBeUndefined();
    expect(at([v2Pool(A, X, 1, 1e18)], 1_000n)).toBeUndefined();
  });

  test("a v3 pool that runs dry gets what it can take, never more", () => {
    const random = seededRandom(7);
    const thin = v3Pool(random, A, C, 1, 1e18, { feePips: 500 });
    const deep = v2Pool(A, C, 0.9, 1e24);
    for (const amountIn of [10n ** 18n, 10n ** 21n, 10n ** 23n]) {
      const choice = at([thin, deep], amountIn)!;
      expect(choice.best.amountIn).toBe(amountIn);
      expect(choice.best.legs.every((leg) => leg.amountOut > 0n)).toBe(true);
    }
    expect(at([thin], 10n ** 24n)).toBeUndefined();
  });

  test("amounts of one unit and of nearly 2^255 are answered, never thrown", () => {
    const random = seededRandom(8);
    const pools = [
      v2Pool(A, C, 1, 1e18),
      v3Pool(random, A, C, 1, 1e18),
      v2Pool(A, X, 1, 1e9),
      v2Pool(X, C, 1, 1e9),
    ];
    for (const amountIn of [1n, 2n, 3n, 7n, 10n ** 30n, 2n ** 255n - 1n, 2n ** 256n - 1n]) {
      const choice = at(pools, amountIn);
      if (choice) expect(choice.best.amountIn).toBe(amountIn);
    }
    expect(at(pools, 7n)?.best.amountOut).toBeGreaterThan(0n);
    expect(at(pools, 2n ** 255n - 1n)).toBeUndefined();
  });

  test("two legs through one pool are counted on the state the first one leaves", () => {
    const random = seededRandom(9);
    let shared = 0;
    for (let run = 0; run < 40; run += 1) {
      const pools = [
        v2Pool(A, X, 1, logUniform(random, 1e20, 1e22)),
        v3Pool(random, A, X, 1, logUniform(random, 1e20, 1e22), { feePips: 500 }),
        v2Pool(X, C, 1, logUniform(random, 1e20, 1e22), { feePips: 500 }),
      ];
      const choice = at(pools, BigInt(Math.floor(logUniform(random, 1e18, 1e20))))!;
      const counts = new Map<string, number>();
      for (const { hops } of choice.best.legs) {
        for (const { pool } of hops) counts.set(pool.address, (counts.get(pool.address) ?? 0) + 1);
      }
      if (Math.max(...counts.values()) > 1) shared += 1;
      const apart = choice.best.legs.map((leg) =>
        runLegs([{ amountIn: leg.amountIn, steps: leg.hops }]),
      );
      const naive = apart.reduce((sum, one) => sum + ("legs" in one ? one.amountOut : 0n), 0n);
      if (choice.best.legs.length > 1) expect(naive).toBeGreaterThan(choice.best.amountOut);
    }
    expect(shared).toBeGreaterThan(10);
  });

  test("a bridge between two connectors is used when it pays", () => {
    // A → X and Y → C are deep, A → Y and X → C are thin.
    const pools = [
      v2Pool(A, X, 1, 1e24),
      v2Pool(Y, C, 1, 1e24),
      v2Pool(X, Y, 1, 1e24),
      v2Pool(A, Y, 1, 1e20),
      v2Pool(X, C, 1, 1e20),
    ];
    const choice = at(pools, 10n ** 21n)!;
    expect(choice.best.legs.some(({ hops }) => hops.length === 3)).toBe(true);
  });

  test("gas decides: a split that gains less than its gas gives way, and comes back when gas is free", () => {
    const pools = [
      v2Pool(A, C, 1, 1e24),
      v2Pool(A, C, 1, 1e24, { venueId: "other" }),
      v2Pool(W, C, 3_000, 1e22),
    ];
    const amountIn = 10n ** 19n;
    expect(at(pools, amountIn)!.best.type).toBe("split");
    const priced = at(pools, amountIn, { gas })!;
    expect(priced.outPerGas).toBeCloseTo((20e9 * 3_000) / 1, -6);
    expect(priced.best.type).toBe("single");
    expect(priced.alternatives.some((plan) => plan.type === "split")).toBe(true);
  });

  test("more than eight worthwhile pools become at most eight legs", () => {
    const random = seededRandom(10);
    const pools = Array.from({ length: 20 }, () =>
      v2Pool(A, C, 1 + random() * 1e-4, logUniform(random, 1e22, 1e23), {
        feePips: pick(random, [500, 3_000]),
      }),
    );
    const choice = at(pools, 10n ** 22n)!;
    expect(choice.best.legs).toHaveLength(8);
  });
});

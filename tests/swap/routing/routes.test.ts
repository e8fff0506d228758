import { describe, expect, test } from "bun:test";
import type { Address } from "viem";
import { type Random, seededRandom } from "../../../src/lib/clock.ts";
import type { MarketPool } from "../../../src/market/index.ts";
import { routeGas } from "../../../src/swap/gasModel.ts";
import { runHops } from "../../../src/swap/routing/execute.ts";
import { findRoutes, hopLoss, type RouteHop, routeLoss } from "../../../src/swap/routing/index.ts";
import {
  anyPool,
  everyWay,
  logUniform,
  pick,
  snapshotOf,
  tokens,
  v2Pool,
  v3Pool,
} from "./networks.ts";

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

/** Every route without splits, by brute force. */
function everySingle(pools: readonly MarketPool[], amountIn: bigint) {
  return everyWay(pools, A, C).flatMap((steps) => {
    const run = runHops(
      amountIn,
      steps.map((step) => ({ ...step, amountIn: 1n })),
    );
    return "hops" in run ? [{ amountOut: run.amountOut, gas: routeGas(run.hops) }] : [];
  });
}

/** What the hops of a graph sell and buy of every token; throws where they stand in a wrong order. */
function balancesOf(hops: readonly RouteHop[], amountIn: bigint): Map<Address, bigint> {
  const left = new Map<Address, bigint>([[A, amountIn]]);
  const sold = new Set<Address>();
  for (const hop of hops) {
    sold.add(hop.tokenIn);
    if (sold.has(hop.tokenOut)) throw new Error("bought after it was sold");
    left.set(hop.tokenIn, (left.get(hop.tokenIn) ?? 0n) - hop.amountIn);
    left.set(hop.tokenOut, (left.get(hop.tokenOut) ?? 0n) + hop.amountOut);
  }
  return left;
}

describe("random markets of five tokens", () => {
  for (const isPriced of [false, true]) {
    test(`never below the best single route, ${isPriced ? "net of gas" : "gross"}`, () => {
      const random = seededRandom(isPriced ? 91 : 92);
      const types = { single: 0, multi: 0, split: 0 };
      for (let run = 0; run < 1_000; run += 1) {
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
        const { hops } = choice.best;
        expect(hops.length).toBeLessThanOrEqual(24);
        expect(new Set(hops.map(({ pool }) => pool)).size).toBe(hops.length);
        if (best !== undefined) expect(choice.best.netOut).toBeGreaterThanOrEqual(best);
        for (const [token, left] of balancesOf(hops, amountIn)) {
          expect(left).toBe(token === C ? choice.best.amountOut : 0n);
          const sellers = hops.filter(({ tokenIn }) => tokenIn === token);
          expect(sellers.length).toBeLessThanOrEqual(8);
        }
        // What is planned is what the pools do, in that order.
        const again = runHops(amountIn, hops);
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
        const { spotOut, kept, impact } = routeLoss(plan.hops);
        expect(impact).toBeGreaterThanOrEqual(0);
        expect(impact).toBeLessThanOrEqual(1);
        const product = (1 - impact) * kept;
        expect(Math.abs(product - Number(plan.amountOut) / spotOut)).toBeLessThan(1e-9);
        if (plan.type !== "split") {
          const byHop = plan.hops.map((hop) => hopLoss(hop, hop.amountIn, hop.amountOut));
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
      expect(choice.best.hops.every((hop) => hop.amountOut > 0n)).toBe(true);
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

  test("what two pools buy of a connector is sold by one, together", () => {
    const pools = [v2Pool(A, X, 1, 1e21), v2Pool(A, X, 1, 2e21), v2Pool(X, C, 1, 1e22)];
    const { hops } = at(pools, 10n ** 20n)!.best;
    expect(hops.map(({ tokenIn }) => tokenIn)).toEqual([A, A, X]);
    expect(hops[2]!.amountIn).toBe(hops[0]!.amountOut + hops[1]!.amountOut);
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
    const bridge = choice.best.hops.find(
      ({ tokenIn, tokenOut }) => tokenIn === X && tokenOut === Y,
    );
    expect(bridge).toBeDefined();
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

  test("bridges are found whatever the connectors are worth", () => {
    for (const [x, y] of [
      [1e-3, 1e3],
      [1e3, 1e-3],
    ] as const) {
      const pools = [
        v2Pool(A, X, 1 / x, 1e24),
        v2Pool(X, Y, x / y, 1e24 / x),
        v2Pool(Y, C, y, 1e24 / y),
        v2Pool(A, C, 0.5, 1e20),
      ];
      expect(at(pools, 10n ** 21n)!.best.hops.length).toBeGreaterThanOrEqual(3);
    }
  });

  test("more than eight worthwhile pools become at most eight legs", () => {
    const random = seededRandom(10);
    const pools = Array.from({ length: 20 }, () =>
      v2Pool(A, C, 1 + random() * 1e-4, logUniform(random, 1e22, 1e23), {
        feePips: pick(random, [500, 3_000]),
      }),
    );
    const choice = at(pools, 10n ** 22n)!;
    expect(choice.best.hops).toHaveLength(8);
  });
});

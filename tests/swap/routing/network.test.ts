import { expect, test } from "bun:test";
import { type Random, seededRandom } from "../../../src/lib/clock.ts";
import type { MarketPool } from "../../../src/market/index.ts";
import { findRoutes } from "../../../src/swap/routing/index.ts";
import { openMarket } from "../../../src/swap/routing/market.ts";
import { allocate } from "../../../src/swap/routing/network.ts";
import { anyPool, logUniform, snapshotOf, tokens } from "./networks.ts";
import { bestParallel, maximise, realPool, type RealPool } from "./optimiser.ts";

const { A, C, X, Y } = tokens;

interface Network {
  readonly pools: Record<"AC" | "AX" | "XC" | "AY" | "YC" | "XY", MarketPool[]>;
  readonly amountIn: bigint;
}

/** Several pools per pair, at prices that agree up to a percent. */
function randomNetwork(random: Random, withY: boolean): Network {
  const [x, c] = [logUniform(random, 0.01, 100), logUniform(random, 0.01, 100)];
  const y = logUniform(random, 0.01, 100);
  const some = (from: typeof A, to: typeof A, price: number, scale: number, most = 3) =>
    Array.from({ length: 1 + Math.floor(random() * most) }, () =>
      anyPool(random, from, to, price, scale),
    );
  return {
    pools: {
      AC: some(A, C, c, 1e18, 2),
      AX: some(A, X, x, 1e18),
      XC: some(X, C, c / x, 1e18 * x),
      AY: withY ? some(A, Y, y, 1e18, 2) : [],
      YC: withY ? some(Y, C, c / y, 1e18 * y, 2) : [],
      XY: [],
    },
    amountIn: BigInt(Math.floor(logUniform(random, 1e14, 2e19))),
  };
}

const real = (pools: readonly MarketPool[], tokenIn: typeof A): RealPool[] =>
  pools.map((pool) => realPool(pool, tokenIn));

/** The optimum over A → C, A → X → C and A → Y → C, one golden section inside the other. */
function nestedOptimum({ pools, amountIn }: Network, rounds: number): number {
  const [direct, ax, xc] = [real(pools.AC, A), real(pools.AX, A), real(pools.XC, X)];
  const [ay, yc] = [real(pools.AY, A), real(pools.YC, Y)];
  const throughX = (input: number) => bestParallel(xc, bestParallel(ax, input));
  const throughY = (input: number) => bestParallel(yc, bestParallel(ay, input));
  const directAndY = (input: number) =>
    ay.length === 0
      ? bestParallel(direct, input)
      : maximise(
          (share) => throughY(input * share) + bestParallel(direct, input * (1 - share)),
          rounds,
        );
  const total = Number(amountIn);
  return maximise((share) => throughX(total * share) + directAndY(total * (1 - share)), rounds);
}

function allocation(network: Network) {
  const pools = Object.values(network.pools).flat();
  const trade = { tokenIn: A, tokenOut: C, amountIn: network.amountIn };
  const market = openMarket(snapshotOf(pools), trade, [X, Y]);
  return { solved: allocate(market, new Set()), pools, trade };
}

for (const [name, runs, withY, rounds] of [
  ["one connector", 200, false, 70],
  ["two connectors", 40, true, 36],
] as const) {
  test(`${runs} networks with ${name}: the closed form is the nested optimum`, () => {
    const random = seededRandom(withY ? 77 : 78);
    let [compared, worst, shortfallBps, viaX] = [0, 0, 0, 0];
    for (let run = 0; run < runs; run += 1) {
      const network = randomNetwork(random, withY);
      const { solved, pools, trade } = allocation(network);
      const optimum = nestedOptimum(network, rounds);
      if (!solved) {
        expect(optimum).toBeLessThan(0);
        continue;
      }
      compared += 1;
      worst = Math.max(worst, Math.abs(solved.output / optimum - 1));
      if (solved.shares.some(({ tokenOut }) => tokenOut === X)) viaX += 1;
      const choice = findRoutes({ lookup: snapshotOf(pools), connectors: [X, Y] }, trade);
      const behindBps = (1 - Number(choice!.best.amountOut) / solved.output) * 1e4;
      shortfallBps = Math.max(shortfallBps, behindBps);
    }
    process.stdout.write(
      `${name}: ${compared} compared, ${viaX} through X, worst relative difference ` +
        `${worst.toExponential(1)}, worst exact route ${shortfallBps.toExponential(1)} bps behind\n`,
    );
    expect(compared).toBeGreaterThan(runs * 0.7);
    expect(shortfallBps).toBeLessThan(0.01);
    expect(viaX).toBeGreaterThan(compared / 2);
    // Golden section finds a flat optimum to about the square root of its rounds' precision.
    expect(worst).toBeLessThan(withY ? 1e-7 : 1e-9);
  }, 120_000);
}

import { curveOf, outputFor, type PoolCurve } from "./curve.ts";
import { type LegOrder, sellsToken0 } from "./plan.ts";

const PIPS = 1e6;
/** Rounds over all pairs of legs. */
const ROUNDS = 2;
/** First step of a search, as a part of the smaller leg. */
const STEP = 0.05;
/** Gains below this are float noise. */
const NOISE = 1e-14;

/** One pool as legs pass through it one after the other. */
interface Passage {
  readonly curve: PoolCurve;
  readonly kept: number;
  /** v3: input so far. v2: what came in since the start, fees included, and what went out. */
  taken: number;
  paid: number;
}

/**
 * Legs in execution order as a real function of their amounts.
 *
 * A network counts a pool once. Legs pass through a shared pool one after the other, which is the
 * same for v3, whose fees stay out of the price, but not for v2: the fee of the first pass deepens
 * the pair along a line on which the second gets a little less.
 */
class LegSequence {
  readonly #passages = new Map<PoolCurve, Passage>();
  readonly #legs: readonly (readonly Passage[])[];

  constructor(orders: readonly LegOrder[]) {
    this.#legs = orders.map(({ steps }) =>
      steps.map((step) => this.#passage(curveOf(step.pool, sellsToken0(step)))),
    );
  }

  /** Total output; NaN where a pool cannot take its input. */
  output(amounts: Float64Array): number {
    for (const passage of this.#passages.values()) passage.taken = passage.paid = 0;
    let total = 0;
    for (const [index, leg] of this.#legs.entries()) {
      let amount = amounts[index] ?? 0;
      for (const passage of leg) amount = pass(passage, amount);
      total += amount;
    }
    return total;
  }

  #passage(curve: PoolCurve): Passage {
    let passage = this.#passages.get(curve);
    if (!passage) {
      passage = { curve, kept: 1 - curve.pool.feePips / PIPS, taken: 0, paid: 0 };
      this.#passages.set(curve, passage);
    }
    return passage;
  }
}

function pass(passage: Passage, input: number): number {
  const { curve, kept, taken, paid } = passage;
  const { pool, zeroForOne } = curve;
  passage.taken += input;
  if (pool.kind === "v3") {
    const after = outputFor(curve, passage.taken);
    passage.paid = after;
    return after - paid;
  }
  const [reserveIn, reserveOut] = zeroForOne
    ? [Number(pool.reserve0), Number(pool.reserve1)]
    : [Number(pool.reserve1), Number(pool.reserve0)];
  const traded = input * kept;
  const output = (traded * (reserveOut - paid)) / (reserveIn + taken + traded);
  passage.paid += output;
  return output;
}

/** Legs with better amounts, and what they pay in floats. */
export interface Polished {
  readonly orders: readonly LegOrder[];
  readonly output: number;
}

/**
 * Moves input between every two legs to the top of the parabola through three points, a few
 * rounds: near an optimum that is Newton's method on each pair.
 */
export function polish(orders: readonly LegOrder[], rounds = ROUNDS): Polished {
  const sequence = new LegSequence(orders);
  const amounts = Float64Array.from(orders, ({ amountIn }) => Number(amountIn));
  let output = sequence.output(amounts);
  for (let round = 0; round < rounds; round += 1) {
    const before = output;
    for (let a = 1; a < amounts.length; a += 1) {
      for (let b = 0; b < a; b += 1) output = balance(sequence, amounts, a, b, output);
    }
    if (!(output > before * (1 + NOISE))) break;
  }
  const polished = orders.map(({ steps }, index) => ({
    steps,
    amountIn: BigInt(Math.floor(amounts[index] ?? 0)),
  }));
  return { orders: polished, output };
}

/** @returns the output after the best move between the legs `a` and `b` */
function balance(
  sequence: LegSequence,
  amounts: Float64Array,
  a: number,
  b: number,
  output: number,
): number {
  const [ofA, ofB] = [amounts[a] ?? 0, amounts[b] ?? 0];
  const step = STEP * Math.min(ofA, ofB);
  const [up, down] = [moved(step), moved(-step)];
  const bend = 2 * output - up - down;
  const top = bend > 0 ? (step * (up - down)) / (2 * bend) : 0;
  const move = Math.max(-ofA / 2, Math.min(ofB / 2, top));
  const reached = moved(move);
  if (reached > output * (1 + NOISE)) {
    [amounts[a], amounts[b]] = [ofA + move, ofB - move];
    return reached;
  }
  [amounts[a], amounts[b]] = [ofA, ofB];
  return output;

  function moved(by: number): number {
    [amounts[a], amounts[b]] = [ofA + by, ofB - by];
    return sequence.output(amounts);
  }
}

/** Legs without one of them, whose input the others take in proportion. */
export function withoutLeg(orders: readonly LegOrder[], dropped: number): LegOrder[] {
  const total = orders.reduce((sum, { amountIn }) => sum + amountIn, 0n);
  const rest = total - (orders[dropped]?.amountIn ?? 0n);
  return orders
    .filter((_, index) => index !== dropped)
    .map(({ steps, amountIn }) => ({
      steps,
      amountIn: rest > 0n ? (amountIn * total) / rest : 0n,
    }));
}

/** The legs that share a v2 pair with another leg, the smallest first. */
export function sharingPairs(orders: readonly LegOrder[]): number[] {
  const passes = new Map<unknown, number>();
  for (const { steps } of orders) {
    for (const { pool } of steps) passes.set(pool, (passes.get(pool) ?? 0) + 1);
  }
  const shares = ({ steps }: LegOrder) =>
    steps.some(({ pool }) => pool.kind === "v2" && (passes.get(pool) ?? 0) > 1);
  return [...orders.entries()]
    .filter(([, order]) => shares(order))
    .toSorted(([, a], [, b]) => (a.amountIn < b.amountIn ? -1 : 1))
    .map(([index]) => index);
}

/** Most legs tried at once for being dropped. */
const MAX_DROPS = 3;

/**
 * Makes legs executable at their best: at most `maxLegs` of them, and none whose second pass
 * through a v2 pair costs more than it brings.
 */
export function untangle(orders: readonly LegOrder[], maxLegs: number): Polished {
  let kept = [...orders];
  while (kept.length > maxLegs) kept = withoutLeg(kept, smallest(kept));
  let best = polish(kept);
  for (;;) {
    const drops = sharingPairs(best.orders).slice(0, MAX_DROPS);
    let better: Polished | undefined;
    for (const drop of best.orders.length > 1 ? drops : []) {
      const without = polish(withoutLeg(best.orders, drop));
      if (without.output > (better ?? best).output) better = without;
    }
    if (!better) return best;
    best = better;
  }
}

function smallest(orders: readonly LegOrder[]): number {
  let least = 0;
  for (const [index, { amountIn }] of orders.entries()) {
    if (amountIn < (orders[least]?.amountIn ?? 0n)) least = index;
  }
  return least;
}

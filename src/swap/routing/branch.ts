import type { PoolCurve } from "./curve.ts";

/**
 * A part of a network of pools between two tokens, walked along `u = 1 / sqrt(marginal price)`.
 *
 * Pools, pools side by side and pools one after the other all look the same from outside: a row of
 * ranges in which `input = slope · (u − start)`. A branch stands at one range and moves forward
 * only; nothing beyond what a trade needs is ever computed.
 */
export interface Branch {
  /** The present range; both Infinity when the branch is used up. */
  readonly start: number;
  readonly end: number;
  /** Input per `u`; above 0 unless used up. */
  readonly slope: number;
  readonly isDone: boolean;
  /** Moves on to the next range. */
  advance(): void;
  /**
   * Fixes every pool's share for a final `u` inside the present range.
   * @param valueOut - final output per unit of this branch's output, at the margin
   */
  settle(u: number, valueOut: number): void;
}

/** One pool. After `settle` it knows its share. */
export class PoolBranch implements Branch {
  start = Infinity;
  end = Infinity;
  slope = 0;
  isDone = false;
  /** Share of the pool, atomic units of its input. */
  input = 0;
  /**
   * What the pool gives beyond what its input would give at the margin, in final output. Taking the
   * pool away loses at least this much (weak duality).
   */
  surplus = 0;
  #index = -1;

  constructor(readonly curve: PoolCurve) {
    this.advance();
  }

  advance(): void {
    this.#index += 1;
    const { curve } = this;
    if (this.#index < curve.count) {
      this.start = curve.starts[this.#index] ?? Infinity;
      this.end = curve.ends[this.#index] ?? Infinity;
      this.slope = curve.slopes[this.#index] ?? 0;
    } else {
      [this.start, this.end, this.slope, this.isDone] = [Infinity, Infinity, 0, true];
    }
  }

  settle(u: number, valueOut: number): void {
    const { curve, start, slope } = this;
    const { input, output } = this.isDone
      ? { input: curve.capacity, output: curve.payout }
      : { input: curve.inputs[this.#index] ?? 0, output: curve.outputs[this.#index] ?? 0 };
    // Not begun, or in a gap without liquidity, or used up: nothing in this range.
    const advance = this.isDone ? 0 : Math.max(0, u - start);
    const paid = advance > 0 ? (slope * advance) / (start * u) : 0;
    this.input = input + slope * advance;
    this.surplus = (output + paid - this.input / (u * u)) * valueOut;
  }
}

/** Branches side by side: at equal `u` their slopes add. */
export class ParallelBranch implements Branch {
  start = Infinity;
  end = Infinity;
  slope = 0;
  isDone = false;

  constructor(readonly members: readonly Branch[]) {
    this.#enter(-Infinity);
  }

  advance(): void {
    const { end } = this;
    for (const member of this.members) {
      if (!member.isDone && member.end <= end) member.advance();
    }
    this.#enter(end);
  }

  settle(u: number, valueOut: number): void {
    for (const member of this.members) member.settle(u, valueOut);
  }

  /** Takes the range that begins at `u`, or the first after it where nothing trades at `u`. */
  #enter(u: number): void {
    let first = Infinity;
    for (const member of this.members) first = Math.min(first, member.start);
    if (first === Infinity) {
      [this.start, this.end, this.slope, this.isDone] = [Infinity, Infinity, 0, true];
      return;
    }
    this.start = Math.max(u, first);
    this.end = Infinity;
    this.slope = 0;
    for (const member of this.members) {
      if (member.isDone) continue;
      if (member.start <= this.start) {
        this.slope += member.slope;
        this.end = Math.min(this.end, member.end);
      } else {
        this.end = Math.min(this.end, member.start);
      }
    }
  }
}

/**
 * One branch after another. With `u₁`, `u₂` where the two stand and `a₁`, `a₂` their slopes, the
 * composition of the two ranges is a range again: `u = u₁ · u₂`, with slope
 * `a₁ / (u₂ + a₁ / (a₂ · u₁))`; Möbius maps compose.
 */
export class SeriesBranch implements Branch {
  start = Infinity;
  end = Infinity;
  slope = 0;
  isDone = false;
  /** Where the two stand: at the start of the range, and after `settle` at the final `u`. */
  firstU: number;
  secondU: number;
  #endsFirst = false;
  #nextFirstU = Infinity;
  #nextSecondU = Infinity;

  constructor(
    readonly first: Branch,
    readonly second: Branch,
  ) {
    this.firstU = first.start;
    this.secondU = second.start;
    this.#enter();
  }

  advance(): void {
    this.firstU = this.#nextFirstU;
    this.secondU = this.#nextSecondU;
    const ended = this.#endsFirst ? this.first : this.second;
    ended.advance();
    if (!ended.isDone) {
      if (this.#endsFirst) this.firstU = Math.max(this.firstU, ended.start);
      else this.secondU = Math.max(this.secondU, ended.start);
    }
    this.#enter();
  }

  settle(u: number, valueOut: number): void {
    if (!this.isDone && u > this.start) {
      const input = this.slope * (u - this.start);
      const settledU = this.firstU + input / this.first.slope;
      const passed = input / this.firstU / settledU;
      this.secondU += passed / this.second.slope;
      this.firstU = settledU;
    }
    this.first.settle(this.firstU, valueOut / (this.secondU * this.secondU));
    this.second.settle(this.secondU, valueOut);
  }

  #enter(): void {
    const { first, second, firstU, secondU } = this;
    if (first.isDone || second.isDone) {
      [this.start, this.end, this.slope, this.isDone] = [Infinity, Infinity, 0, true];
      return;
    }
    this.start = firstU * secondU;
    this.slope = first.slope / (secondU + first.slope / (second.slope * firstU));
    const roomFirst = first.slope * (1 / firstU - 1 / first.end);
    const roomSecond = second.slope * (second.end - secondU);
    this.#endsFirst = roomFirst <= roomSecond;
    if (this.#endsFirst) {
      this.#nextFirstU = first.end;
      this.#nextSecondU = secondU + roomFirst / second.slope;
    } else {
      this.#nextFirstU = 1 / (1 / firstU - roomSecond / first.slope);
      this.#nextSecondU = second.end;
    }
    this.end = this.#nextFirstU * this.#nextSecondU;
  }
}

/** Where a sweep ended. */
export interface Swept {
  /** Final `u`: the marginal price of every part in use is `1 / u²`. */
  readonly u: number;
  readonly output: number;
}

/**
 * Sends an input through a network: walks its ranges until the input is used up and fixes every
 * pool's share. No iteration and no tolerance: the optimum of a concave problem in closed form
 * (equal marginal prices on everything used, none better on the rest).
 *
 * @returns undefined when the network cannot take that much
 */
export function sweep(root: Branch, amountIn: number): Swept | undefined {
  let filled = 0;
  let output = 0;
  while (!root.isDone) {
    const { start, end, slope } = root;
    const room = slope * (end - start);
    if (filled + room >= amountIn) {
      const u = start + (amountIn - filled) / slope;
      root.settle(u, 1);
      return { u, output: output + (slope * (u - start)) / (start * u) };
    }
    filled += room;
    output += slope * (1 / start - 1 / end);
    root.advance();
  }
  return undefined;
}

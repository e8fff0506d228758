import type { Address } from "viem";
import { type CurvePoints, enterPoint, type PoolCurve, startPoints } from "./curve.ts";
import { connected } from "./graph.ts";
import type { Trade } from "./market.ts";
import type { Share } from "./network.ts";

const MAX_STEPS = 100;
const MAX_ATTEMPTS = 16;
/** Most damped steps that are made at once. */
const MAX_LENGTH = 2 ** 30;
/** Flows below this part of the trade need not be balanced. */
const NEGLIGIBLE = 1e-6;
/** Longest step of a potential, in its logarithm. */
const MAX_STRIDE = 0.5;
/** Flows that differ by less than this part of the trade are balanced. */
const BALANCED = 1e-12;
/** What is accepted where floats get no further: execution shares out what is there. */
const GOOD_ENOUGH = 0.05;
/** Keeps the equations solvable where no pool trades at a token's price. */
const LEAST_DAMPING = 1e-12;
/** Where a step that does not help is damped first. */
const FIRST_DAMPING = 1 / 4;
/** The least that counts as flowing through a token, as a part of the trade. */
const LEAST_PASSING = 1e-6;
/** Bounds that differ by less are equal as far as floats can tell. */
const LEVEL = 1e-14;

/**
 * Where tokens stand: one unit of the input buys `1 / s²` of a token at the margin. A pool between
 * two tokens then trades until its own `u` is the ratio of theirs.
 */
export type Potentials = ReadonlyMap<Address, number>;

interface Edge {
  readonly curve: PoolCurve;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
}

/** An edge with its ends as indices: 0 is the input, the last the output. */
interface Arc {
  readonly edge: Edge;
  readonly from: number;
  readonly to: number;
  /** Logarithm of the `u` at which the pool begins to trade. */
  readonly logStart: number;
}

interface Flows {
  readonly points: CurvePoints;
  /** What is missing at each token, worth in the input token; at the input, what is left over. */
  readonly missing: Float64Array;
  /** What is bought or sold of each token, whichever is more, worth in the input token. */
  readonly passing: Float64Array;
  /** The greatest part of a token's flow that is missing. */
  readonly imbalance: number;
  /** The dual's value: an upper bound of any output, reached at the optimum. */
  readonly bound: number;
}

interface State {
  /** Logarithms of the potentials. */
  readonly logs: Float64Array;
  readonly flows: Flows;
  readonly damping: number;
}

/** Flows in balance. */
interface Balanced {
  readonly output: number;
  readonly shares: readonly Share[];
  readonly potentials: Potentials;
}

/**
 * The optimal flows through any graph of pools without cycles.
 *
 * The dual of the concave problem has one variable per token, its price. At given prices every pool
 * trades on its own, and what flows into a token and out of it tells how to change its price. The
 * Newton step is the potential of an electrical network whose conductances are the pools' slopes;
 * it is shortened until it brings the dual down.
 *
 * @param near - potentials to start from
 * @returns undefined when the pools cannot take the whole input
 */
export function balance(
  edges: readonly Edge[],
  trade: Trade,
  near: Potentials | undefined,
): Balanced | undefined {
  const { tokenIn, tokenOut } = trade;
  const amountIn = Number(trade.amountIn);
  const used = connected(edges, tokenIn, tokenOut);
  if (used.length === 0) return undefined;
  const inner = [...new Set(used.flatMap((edge) => [edge.tokenIn, edge.tokenOut]))].filter(
    (token) => token !== tokenIn && token !== tokenOut,
  );
  const tokens = [tokenIn, ...inner, tokenOut];
  const index = new Map(tokens.map((token, position) => [token, position]));
  const arcs = used.map((edge) => ({
    edge,
    from: index.get(edge.tokenIn) ?? 0,
    to: index.get(edge.tokenOut) ?? 0,
    logStart: Math.log(edge.curve.starts[0] ?? Infinity),
  }));
  const logs = startFrom(tokens, arcs, near);
  confine(arcs, logs);
  let state: State = { logs, flows: flowsAt(arcs, logs, amountIn), damping: LEAST_DAMPING };
  for (let step = 0; step < MAX_STEPS && state.flows.imbalance > BALANCED; step += 1) {
    const next = improve(arcs, state, amountIn);
    if (!next) break;
    state = next;
  }
  if (state.flows.imbalance > GOOD_ENOUGH) return undefined;
  const { logs: found } = state;
  const potentials = new Map(tokens.map((token, at) => [token, Math.exp(found[at] ?? 0)]));
  return { ...collect(arcs, state), potentials };
}

/** The given potentials, or the cheapest way there; the input's is 1. */
function startFrom(
  tokens: readonly Address[],
  arcs: readonly Arc[],
  near: Potentials | undefined,
): Float64Array {
  const logs = Float64Array.from(tokens, (token) => Math.log(near?.get(token) ?? Infinity));
  logs[0] = 0;
  for (const _ of tokens) {
    for (const { logStart, from, to } of arcs) {
      const reached = (logs[from] ?? Infinity) + logStart;
      if (!near?.has(tokens[to] ?? "0x") && reached < (logs[to] ?? Infinity)) logs[to] = reached;
    }
  }
  return logs;
}

function flowsAt(arcs: readonly Arc[], logs: Float64Array, amountIn: number): Flows {
  const size = logs.length;
  // One root for each token, from which its price and all ratios follow.
  const [roots, bought, sold] = [
    new Float64Array(size),
    new Float64Array(size),
    new Float64Array(size),
  ];
  for (let token = 0; token < size; token += 1) roots[token] = Math.exp(logs[token] ?? 0);
  const points = startPoints(arcs.length);
  bought[0] = amountIn;
  let profit = amountIn;
  for (let index = 0; index < arcs.length; index += 1) {
    const arc = arcs[index];
    if (!arc) break;
    const { edge, from, to } = arc;
    const [rootFrom, rootTo] = [roots[from] ?? 1, roots[to] ?? 1];
    enterPoint(points, index, edge.curve, rootTo / rootFrom);
    const paid = (points.inputs[index] ?? 0) * rootFrom * rootFrom;
    const gained = (points.outputs[index] ?? 0) * rootTo * rootTo;
    sold[from] = (sold[from] ?? 0) + paid;
    bought[to] = (bought[to] ?? 0) + gained;
    profit += gained - paid;
  }
  const rootOut = roots[size - 1] ?? 1;
  return { points, ...balanceOf(sold, bought, amountIn), bound: profit / (rootOut * rootOut) };
}

/** What is missing at each token but the output, which takes whatever comes. */
function balanceOf(sold: Float64Array, bought: Float64Array, amountIn: number) {
  const size = sold.length;
  const [missing, passing] = [new Float64Array(size), new Float64Array(size)];
  let imbalance = 0;
  for (let token = 0; token < size; token += 1) {
    const [out, into] = [sold[token] ?? 0, bought[token] ?? 0];
    const flow = Math.max(out, into);
    missing[token] = out - into;
    passing[token] = flow;
    if (token === size - 1 || !(flow > 0)) continue;
    imbalance = Math.max(imbalance, Math.abs(out - into) / Math.max(flow, NEGLIGIBLE * amountIn));
  }
  return { missing, passing, imbalance };
}

/**
 * One Newton step, damped until it helps: it may overshoot a place at which pools begin or end.
 * What helps is then gone further, since damping holds back tokens that deep pools tie together.
 * @returns undefined where no step helps
 */
function improve(arcs: readonly Arc[], state: State, amountIn: number): State | undefined {
  let { damping } = state;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const stride = newtonStep(arcs, state, amountIn, damping);
    const step = { arcs, amountIn, state, stride };
    let reached = moved(step, 1);
    if (helps(reached, state.flows)) {
      if (damping >= FIRST_DAMPING) reached = goFurther(step, reached);
      const next = Math.max(LEAST_DAMPING, damping / 32);
      return { ...reached, damping: Math.min(FIRST_DAMPING, next) };
    }
    damping = Math.max(8 * damping, FIRST_DAMPING);
  }
  return undefined;
}

interface Step {
  readonly arcs: readonly Arc[];
  readonly amountIn: number;
  readonly state: State;
  readonly stride: Float64Array;
}

function moved({ arcs, amountIn, state, stride }: Step, length: number) {
  const logs = state.logs.map((log, token) => log + length * (stride[token] ?? 0));
  confine(arcs, logs);
  return { logs, flows: flowsAt(arcs, logs, amountIn) };
}

/** Doubles a step while the dual falls. */
function goFurther(step: Step, first: ReturnType<typeof moved>): ReturnType<typeof moved> {
  let reached = first;
  for (let length = 2; length < MAX_LENGTH; length *= 2) {
    const further = moved(step, length);
    if (!(further.flows.bound < reached.flows.bound)) break;
    reached = further;
  }
  return reached;
}

/** Whether the dual falls or, where floats cannot tell, flows are better balanced. */
function helps({ flows: next }: { flows: Flows }, present: Flows): boolean {
  const falls = present.bound - next.bound;
  const isLevel = Math.abs(falls) < LEVEL * next.bound;
  return isLevel ? next.imbalance < present.imbalance : falls > 0;
}

/**
 * Keeps tokens at potentials where something flows, or just nothing: below the one at which the
 * first pool buys a token it is only sold, above the one at which the last sells it only bought.
 */
function confine(arcs: readonly Arc[], logs: Float64Array): void {
  for (let token = 1; token < logs.length - 1; token += 1) {
    let [lowest, highest] = [Infinity, -Infinity];
    for (const { from, to, logStart } of arcs) {
      if (to === token) lowest = Math.min(lowest, (logs[from] ?? 0) + logStart);
      if (from === token) highest = Math.max(highest, (logs[to] ?? 0) - logStart);
    }
    const [low, high] = lowest < highest ? [lowest, highest] : [highest, lowest];
    logs[token] = Math.max(low, Math.min(high, logs[token] ?? 0));
  }
}

/**
 * Potentials of the network with the imbalances as currents; the input's stays. Damping ties every
 * token to where it is, by as much as its pools already do.
 */
function newtonStep(
  arcs: readonly Arc[],
  { logs, flows: { points, missing, passing } }: State,
  amountIn: number,
  damping: number,
): Float64Array {
  const size = logs.length;
  const matrix = new Float64Array(size * size);
  const add = (row: number, column: number, value: number) => {
    matrix[row * size + column] = (matrix[row * size + column] ?? 0) + value;
  };
  for (let index = 0; index < arcs.length; index += 1) {
    const [slope, arc] = [points.slopes[index] ?? 0, arcs[index]];
    if (!arc || slope === 0) continue;
    const { from, to } = arc;
    const conductance = slope * Math.exp((logs[from] ?? 0) + (logs[to] ?? 0));
    add(from, from, conductance);
    add(to, to, conductance);
    add(from, to, -conductance);
    add(to, from, -conductance);
  }
  for (let token = 0; token < size; token += 1) {
    const own = matrix[token * size + token] ?? 0;
    add(token, token, damping * (own + (passing[token] ?? 0) + LEAST_PASSING * amountIn));
  }
  // The output takes whatever comes: what is missing elsewhere is left over there.
  const wanted = Float64Array.from(missing);
  wanted[size - 1] = 0;
  wanted[size - 1] = -wanted.reduce((sum, value) => sum + value, 0);
  return solve(matrix, wanted);
}

/** Solves the equations of all tokens but the first by elimination; the first stays where it is. */
function solve(matrix: Float64Array, wanted: Float64Array): Float64Array {
  const size = wanted.length;
  const cell = (row: number, column: number) => matrix[row * size + column] ?? 0;
  for (let pivot = 1; pivot < size; pivot += 1) {
    for (let other = pivot + 1; other < size; other += 1) {
      const factor = cell(other, pivot) / cell(pivot, pivot);
      if (factor === 0) continue;
      for (let column = pivot; column < size; column += 1) {
        matrix[other * size + column] = cell(other, column) - factor * cell(pivot, column);
      }
      wanted[other] = (wanted[other] ?? 0) - factor * (wanted[pivot] ?? 0);
    }
  }
  const found = new Float64Array(size);
  for (let row = size - 1; row >= 1; row -= 1) {
    let rest = wanted[row] ?? 0;
    for (let column = row + 1; column < size; column += 1) {
      rest -= cell(row, column) * (found[column] ?? 0);
    }
    found[row] = Math.max(-MAX_STRIDE, Math.min(MAX_STRIDE, rest / cell(row, row)));
  }
  return found;
}

function collect(arcs: readonly Arc[], { logs, flows: { points } }: State) {
  const last = logs.length - 1;
  const end = logs[last] ?? 0;
  let output = 0;
  const shares = arcs.flatMap(({ edge, from, to }, index): Share[] => {
    const { curve, tokenIn, tokenOut } = edge;
    const [input, paid] = [points.inputs[index] ?? 0, points.outputs[index] ?? 0];
    if (!(input > 0)) return [];
    if (to === last) output += paid;
    const price = Math.exp(2 * ((logs[from] ?? 0) - (logs[to] ?? 0)));
    const surplus = (paid - input * price) * Math.exp(2 * ((logs[to] ?? 0) - end));
    return [{ curve, tokenIn, tokenOut, input, surplus }];
  });
  return { output, shares };
}

import type { Address } from "viem";
import type { MarketPool } from "../../market/index.ts";
import { type Branch, ParallelBranch, PoolBranch, SeriesBranch, sweep } from "./branch.ts";
import type { PoolCurve } from "./curve.ts";
import { bestStart, type TradeMarket } from "./market.ts";
import { balance, type Potentials } from "./potentials.ts";

/** A bridge must be better than the solution's margin by more than float noise. */
const BRIDGE_MARGIN = 1e-9;
/** Most connectors that bridges are tried between, in every order. */
const MAX_BRIDGED = 3;

/** What a solved network sends through one pool. */
export interface Share {
  readonly curve: PoolCurve;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  /** Atomic units of `tokenIn`. */
  readonly input: number;
  /** Least final output that is lost without this pool, see {@link PoolBranch.surplus}. */
  readonly surplus: number;
}

/** Connectors in an order: bridges lead from each of them to those after it. */
export type Bridges = readonly Address[];

/** What flows through a network. */
interface Flow {
  readonly output: number;
  /** Pools that get something. */
  readonly shares: readonly Share[];
  readonly potentials: Potentials;
}

/** The continuous optimum of a network. */
export interface Allocation extends Flow {
  readonly bridges: Bridges;
}

/** The network of direct and two-hop paths, solved. */
interface Base extends Allocation {
  /** Where the hops on both sides of a connector stand; between them may lie a gap. */
  readonly stands: ReadonlyMap<Address, { readonly reached: number; readonly left: number }>;
}

const NO_BRIDGES: Bridges = [];

/**
 * The best continuous allocation over direct hops, all connectors, and three-hop paths.
 *
 * Direct and two-hop paths form one series-parallel network, which has a closed form. A bridge, a
 * hop between two connectors, can only help if it beats that optimum's margin at the prices the
 * optimum leaves (KKT); where none does, the optimum is that of the whole graph. Where one does, the
 * graph is no longer series-parallel, and its token prices are balanced by Newton's method: once with
 * bridges both ways, and where flows go round in circles then, for every order in which the
 * connectors can be sold.
 *
 * @param excluded - pools that must not be used
 * @param near - the optimum of nearly the same network, whose bridges are used; found where left out
 * @returns undefined when the pools cannot take the whole input
 */
export function allocate(
  market: TradeMarket,
  excluded: ReadonlySet<MarketPool>,
  near?: Allocation,
): Allocation | undefined {
  const base = solveBase(market, excluded);
  const bridges = near?.bridges;
  const tokens = bridges ?? tokensWorthBridging(market, base, excluded);
  if (tokens.length < 2) return base;
  const from = near?.potentials ?? base?.potentials;
  const solve = (pairs: readonly Pair[]) => solveBridged(market, excluded, pairs, from);
  let best: Allocation | undefined = base;
  const consider = (order: Bridges, solved: Flow | undefined) => {
    if (solved && solved.output > (best?.output ?? 0)) best = { ...solved, bridges: order };
  };
  if (bridges) {
    consider(bridges, solve(pairsOf(bridges)));
    return best;
  }
  // With bridges both ways nothing is better than the best order. What uses them in one order only,
  // as it does unless connectors can be traded in a circle at a profit, is that order's optimum.
  const orders = ordersOf(tokens);
  const eitherWay = solve([...pairsOf(tokens), ...pairsOf(tokens.toReversed())]);
  const used = eitherWay && orders.find((order) => isInOrder(eitherWay, order));
  if (used) consider(used, eitherWay);
  else for (const order of orders) consider(order, solve(pairsOf(order)));
  return best;
}

type Pair = readonly [tokenIn: Address, tokenOut: Address];

/** Bridges from each token to those after it. */
function pairsOf(order: Bridges): Pair[] {
  return order.flatMap((from, index) => order.slice(index + 1).map((to): Pair => [from, to]));
}

/** Whether everything that flows between tokens of an order goes from an earlier to a later one. */
function isInOrder({ shares }: Flow, order: Bridges): boolean {
  return shares.every(({ tokenIn, tokenOut, input }) => {
    const [from, to] = [order.indexOf(tokenIn), order.indexOf(tokenOut)];
    return input < 1 || from === -1 || to === -1 || from < to;
  });
}

/** Direct hops and all paths over one connector, in closed form. */
function solveBase(market: TradeMarket, excluded: ReadonlySet<MarketPool>): Base | undefined {
  const { tokenIn, tokenOut } = market.trade;
  const leaves: { branch: PoolBranch; tokenIn: Address; tokenOut: Address }[] = [];
  const series: { token: Address; branch: SeriesBranch }[] = [];
  const direct = buildHop(tokenIn, tokenOut);
  const parts = [direct, ...market.connectors.map(through)];
  const root = sideBySide(parts);
  const swept = root && sweep(root, market.amountIn);
  if (!swept) return undefined;
  const shares = leaves
    .filter(({ branch }) => branch.input > 0)
    .map(({ branch: { curve, input, surplus }, tokenIn: from, tokenOut: to }) => ({
      curve,
      tokenIn: from,
      tokenOut: to,
      input,
      surplus,
    }));
  const potentials = new Map([[tokenOut, swept.u]]);
  const stands = new Map<Address, { reached: number; left: number }>();
  for (const { token, branch } of series) {
    potentials.set(token, branch.firstU);
    const { firstU: reached, secondU: left } = branch;
    // Where one side stands before a range without liquidity, the other decides the price.
    const isUsed = shares.some((share) => share.tokenIn === token);
    stands.set(token, {
      reached: isUsed ? Math.min(reached, swept.u / left) : reached,
      left: isUsed ? Math.min(left, swept.u / reached) : left,
    });
  }
  return { output: swept.output, shares, bridges: NO_BRIDGES, potentials, stands };

  function through(token: Address): Branch | undefined {
    const first = buildHop(tokenIn, token);
    const second = first && buildHop(token, tokenOut);
    if (!second) return undefined;
    const branch = new SeriesBranch(first, second);
    series.push({ token, branch });
    return branch;
  }

  function buildHop(from: Address, to: Address): Branch | undefined {
    const branches = usable(market, from, to, excluded).map((curve) => {
      const branch = new PoolBranch(curve);
      leaves.push({ branch, tokenIn: from, tokenOut: to });
      return branch;
    });
    return sideBySide(branches);
  }
}

function sideBySide(parts: readonly (Branch | undefined)[]): Branch | undefined {
  const members = parts.filter((part) => part !== undefined);
  return members.length > 1 ? new ParallelBranch(members) : members[0];
}

function usable(
  market: TradeMarket,
  from: Address,
  to: Address,
  excluded: ReadonlySet<MarketPool>,
): readonly PoolCurve[] {
  const curves = market.hop(from, to);
  return excluded.size === 0 ? curves : curves.filter(({ pool }) => !excluded.has(pool));
}

/** The connectors worth bridging: none where no bridge helps. */
function tokensWorthBridging(
  market: TradeMarket,
  base: Base | undefined,
  excluded: ReadonlySet<MarketPool>,
): Bridges {
  const { tokenIn, tokenOut } = market.trade;
  const start = (from: Address, to: Address) => bestStart(usable(market, from, to, excluded));
  const margin = (base?.potentials.get(tokenOut) ?? Infinity) * (1 - BRIDGE_MARGIN);
  const stands = market.connectors.map((token) => ({
    token,
    reached: base?.stands.get(token)?.reached ?? start(tokenIn, token),
    left: base?.stands.get(token)?.left ?? start(token, tokenOut),
  }));
  const useful = stands.flatMap((x) =>
    stands
      .filter((y) => y !== x)
      .map((y) => ({ x, y, u: x.reached * start(x.token, y.token) * y.left }))
      .filter(({ u }) => u < margin),
  );
  if (useful.length === 0) return NO_BRIDGES;
  const promising = useful.toSorted((a, b) => a.u - b.u).flatMap(({ x, y }) => [x.token, y.token]);
  // With a bridge in use, others may help that did not before.
  return [...new Set([...promising, ...market.connectors])].slice(0, MAX_BRIDGED);
}

function ordersOf(tokens: readonly Address[]): Address[][] {
  if (tokens.length < 2) return [[...tokens]];
  return tokens.flatMap((first) =>
    ordersOf(tokens.filter((token) => token !== first)).map((rest) => [first].concat(rest)),
  );
}

/** The network with these bridges. */
function solveBridged(
  market: TradeMarket,
  excluded: ReadonlySet<MarketPool>,
  bridges: readonly Pair[],
  near: Potentials | undefined,
): Flow | undefined {
  const { tokenIn, tokenOut } = market.trade;
  const hops: Pair[] = [
    [tokenIn, tokenOut],
    ...market.connectors.flatMap((token): Pair[] => [
      [tokenIn, token],
      [token, tokenOut],
    ]),
    ...bridges,
  ];
  const edges = hops.flatMap(([tokenA, tokenB]) =>
    usable(market, tokenA, tokenB, excluded).map((curve) => ({
      curve,
      tokenIn: tokenA,
      tokenOut: tokenB,
    })),
  );
  return balance(edges, market.trade, near);
}

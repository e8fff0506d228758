import type { Address } from "viem";
import type { MarketPool } from "../../market/index.ts";
import { type Branch, ParallelBranch, PoolBranch, SeriesBranch, sweep } from "./branch.ts";
import type { PoolCurve } from "./curve.ts";
import { bestStart, type TradeMarket } from "./market.ts";

/** Most pairs of connectors whose three-hop networks are solved. */
const MAX_BRIDGES = 2;
/** A three-hop path must be better than the solution's margin by more than float noise. */
const BRIDGE_MARGIN = 1e-9;

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

/** The continuous optimum of a network. */
export interface Allocation {
  readonly output: number;
  /** Pools that get something. */
  readonly shares: readonly Share[];
}

/** A series-parallel arrangement of hops. */
type Shape =
  | { readonly kind: "hop"; readonly from: Address; readonly to: Address }
  | { readonly kind: "parallel"; readonly members: readonly Shape[] }
  | { readonly kind: "series"; readonly first: Shape; readonly second: Shape };

interface Solved extends Allocation {
  readonly u: number;
  /** Where the two halves of each series part stand. */
  readonly series: ReadonlyMap<Shape, SeriesBranch>;
}

/**
 * The best continuous allocation over direct hops, all connectors, and three-hop paths.
 *
 * Direct and two-hop paths form one series-parallel network. A three-hop path X → Y can only help
 * if it beats that optimum's margin at the prices the optimum leaves (KKT); where none does, the
 * optimum is already that of the whole graph. Where one does, the two series-parallel networks that
 * contain it are solved too: X's output going on to both the target and Y, or Y being fed by both
 * the source and X.
 *
 * @param excluded - pools that must not be used
 * @returns undefined when the pools cannot take the whole input
 */
export function allocate(
  market: TradeMarket,
  excluded: ReadonlySet<MarketPool>,
): Allocation | undefined {
  const { tokenIn, tokenOut } = market.trade;
  const direct: Shape = { kind: "hop", from: tokenIn, to: tokenOut };
  const via = new Map(
    market.connectors.map((token) => [token, inSeries(tokenIn, token, tokenOut)]),
  );
  const base = solve(market, { kind: "parallel", members: [direct, ...via.values()] }, excluded);
  let best = base;
  for (const [x, y] of usefulBridges(market, via, base, excluded)) {
    const others = market.connectors.filter((token) => token !== x && token !== y);
    const rest = [direct, ...others.flatMap((token) => via.get(token) ?? [])];
    for (const part of bridged(tokenIn, x, y, tokenOut)) {
      const solved = solve(market, { kind: "parallel", members: [...rest, part] }, excluded);
      if (solved && solved.output > (best?.output ?? 0)) best = solved;
    }
  }
  return best;
}

function inSeries(from: Address, through: Address, to: Address): Shape {
  return {
    kind: "series",
    first: { kind: "hop", from, to: through },
    second: { kind: "hop", from: through, to },
  };
}

/** The two series-parallel networks with the path `from → x → y → to`. */
function bridged(from: Address, x: Address, y: Address, to: Address): [Shape, Shape] {
  const beyondX: Shape = {
    kind: "parallel",
    members: [{ kind: "hop", from: x, to }, inSeries(x, y, to)],
  };
  const beforeY: Shape = {
    kind: "parallel",
    members: [{ kind: "hop", from, to: y }, inSeries(from, x, y)],
  };
  return [
    { kind: "series", first: { kind: "hop", from, to: x }, second: beyondX },
    { kind: "series", first: beforeY, second: { kind: "hop", from: y, to } },
  ];
}

/** Ordered pairs of connectors worth a hop between them, the most promising first. */
function usefulBridges(
  market: TradeMarket,
  via: ReadonlyMap<Address, Shape>,
  base: Solved | undefined,
  excluded: ReadonlySet<MarketPool>,
): [Address, Address][] {
  const { tokenIn, tokenOut } = market.trade;
  const usable = (from: Address, to: Address) =>
    bestStart(market.hop(from, to).filter(({ pool }) => !excluded.has(pool)));
  const stands = market.connectors.map((token) => {
    const shape = via.get(token);
    const series = shape && base?.series.get(shape);
    return {
      token,
      reached: series?.firstU ?? usable(tokenIn, token),
      left: series?.secondU ?? usable(token, tokenOut),
    };
  });
  const margin = (base?.u ?? Infinity) * (1 - BRIDGE_MARGIN);
  return stands
    .flatMap((x) =>
      stands
        .filter((y) => y !== x && x.reached * y.left < margin)
        .map((y) => ({
          pair: [x.token, y.token] satisfies [Address, Address] as [Address, Address],
          u: x.reached * usable(x.token, y.token) * y.left,
        })),
    )
    .filter(({ u }) => u < margin)
    .toSorted((a, b) => a.u - b.u)
    .slice(0, MAX_BRIDGES)
    .map(({ pair }) => pair);
}

function solve(
  market: TradeMarket,
  shape: Shape,
  excluded: ReadonlySet<MarketPool>,
): Solved | undefined {
  const leaves: { branch: PoolBranch; tokenIn: Address; tokenOut: Address }[] = [];
  const series = new Map<Shape, SeriesBranch>();
  const root = build(shape);
  const swept = root && sweep(root, market.amountIn);
  if (!swept) return undefined;
  const shares = leaves
    .filter(({ branch }) => branch.input > 0)
    .map(({ branch: { curve, input, surplus }, tokenIn, tokenOut }) => ({
      curve,
      tokenIn,
      tokenOut,
      input,
      surplus,
    }));
  return { ...swept, shares, series };

  /** @returns undefined where a part has no pools */
  function build(part: Shape): Branch | undefined {
    if (part.kind === "series") {
      const first = build(part.first);
      const second = first && build(part.second);
      if (!second) return undefined;
      const branch = new SeriesBranch(first, second);
      series.set(part, branch);
      return branch;
    }
    return part.kind === "hop" ? buildHop(part.from, part.to) : sideBySide(part.members.map(build));
  }

  function buildHop(from: Address, to: Address): Branch | undefined {
    const branches = market
      .hop(from, to)
      .filter(({ pool }) => !excluded.has(pool))
      .map((curve) => {
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

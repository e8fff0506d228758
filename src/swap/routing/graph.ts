import type { Address } from "viem";
import type { Share } from "./network.ts";
import { type HopOrder, MAX_HOPS, MAX_LEGS } from "./plan.ts";

interface Edge {
  readonly tokenIn: Address;
  readonly tokenOut: Address;
}

/** The flows of a network as hops in the order of execution; less than a unit is left out. */
export function toHops(shares: readonly Share[], tokenIn: Address, tokenOut: Address): HopOrder[] {
  const hops = shares
    .filter(({ input }) => input >= 1)
    .map(({ curve: { pool }, tokenIn: from, tokenOut: to, input }) => ({
      pool,
      tokenIn: from,
      tokenOut: to,
      amountIn: BigInt(Math.floor(input)),
    }));
  return inOrder(connected(hops, tokenIn, tokenOut), tokenIn);
}

/** Only the hops that something flows into and whose output goes on. */
export function connected<Hop extends Edge>(
  hops: readonly Hop[],
  tokenIn: Address,
  tokenOut: Address,
): Hop[] {
  const isBought = (among: readonly Hop[], token: Address) =>
    token === tokenIn || among.some((hop) => hop.tokenOut === token);
  const isSold = (among: readonly Hop[], token: Address) =>
    token === tokenOut || among.some((hop) => hop.tokenIn === token);
  let kept = hops;
  for (;;) {
    const among = kept;
    const next = among.filter((hop) => isBought(among, hop.tokenIn) && isSold(among, hop.tokenOut));
    if (next.length === kept.length) return next;
    kept = next;
  }
}

/**
 * Hops token by token, each token once all that buy it ran. Of the sellers of a token those stand
 * last that buy the token whose turn comes next, so that a pair can be paid straight by the pool
 * before it; the largest of them takes what rounding leaves.
 *
 * @param hops - of a graph without cycles
 */
export function inOrder(hops: readonly HopOrder[], tokenIn: Address): HopOrder[] {
  const turns: HopOrder[][] = [];
  let rest = [...hops];
  let token: Address | undefined = tokenIn;
  while (token !== undefined) {
    const turn = token;
    turns.push(rest.filter((hop) => hop.tokenIn === turn));
    rest = rest.filter((hop) => hop.tokenIn !== turn);
    token = rest.find(({ tokenIn: of }) => !rest.some(({ tokenOut }) => tokenOut === of))?.tokenIn;
  }
  return turns.flatMap((turn, index) => {
    const next = turns[index + 1]?.[0]?.tokenIn;
    const rank = (hop: HopOrder) => Number(hop.tokenOut === next);
    return turn.toSorted(
      (a, b) =>
        rank(a) - rank(b) || (a.amountIn < b.amountIn ? -1 : Number(a.amountIn > b.amountIn)),
    );
  });
}

/** The hops of each token, in the order in which they stand. */
export function turnsOf<Hop extends { readonly tokenIn: string }>(hops: readonly Hop[]): Hop[][] {
  const turns: Hop[][] = [];
  for (const hop of hops) {
    const turn = turns.at(-1);
    if (turn?.[0]?.tokenIn === hop.tokenIn) turn.push(hop);
    else turns.push([hop]);
  }
  return turns;
}

/** Hops of the tokens that more pools share than a route may have; all where the route is too long. */
export function tooMany<Hop extends { readonly tokenIn: string }>(
  hops: readonly Hop[],
): { readonly excess: number; readonly among: readonly Hop[] } {
  const crowded = turnsOf(hops).filter((turn) => turn.length > MAX_LEGS);
  const excess = crowded.reduce((sum, turn) => sum + turn.length - MAX_LEGS, 0);
  if (excess > 0) return { excess, among: crowded.flat() };
  return { excess: Math.max(0, hops.length - MAX_HOPS), among: hops };
}

import { type Address, isAddress } from "viem";
import { sameAddress } from "../chains/index.ts";
import { parseAtomicAmount } from "../lib/amounts.ts";
import { ApiError } from "../lib/errors.ts";
import { candidatePools, checksummed, type PoolCandidate } from "../market/index.ts";
import type { Quoted, QuotedHop } from "./model.ts";
import type { LegRequest, TradeRequest } from "./quoteSource.ts";
import { resolveVenues } from "./resolve.ts";
import { MAX_HOPS, MAX_LEGS, typeOf } from "./routing/index.ts";

/**
 * The legs of a quote, proved: every pool is derived again from its venue's factory, every leg
 * leads from the input to the output token, and the legs' inputs add up to the trade's. What hops
 * say beside that has to agree with it.
 *
 * @param dexId - the quote's venue, which must be on the route
 * @returns undefined for hops that do not say which pool they mean: the trade is routed again
 * @throws ApiError `INVALID_QUOTE`, `UNKNOWN_VENUE`
 */
export function readLegs(
  trade: TradeRequest,
  dexId: string,
  route: Quoted["route"],
): LegRequest[] | undefined {
  const hops = route?.hops ?? [];
  if (hops.length === 0) return undefined;
  if (!hops.some((hop) => hop.dexId === dexId)) {
    throw invalidQuote("no hop is at the quote's dexId");
  }
  // As the contract's own hop object: nothing in it to be proved.
  if (hops.every(({ pool, fee, tokenIn }) => !pool && fee === undefined && !tokenIn)) {
    for (const hop of hops) resolveVenues(trade.chain, hop.dexId);
    return undefined;
  }
  const groups = groupByLeg(hops);
  if (route?.type !== undefined && route.type !== typeOf(groups.map((leg) => ({ hops: leg })))) {
    throw invalidQuote(`its hops are no ${route.type} route`);
  }
  const legs = groups.map((group) => readHops(trade, group));
  const amounts = groups.map((group) => readAmount(trade, group, groups.length));
  if (amounts.reduce((sum, amount) => sum + amount, 0n) !== trade.amountIn) {
    throw invalidQuote("the legs' inputs do not add up to inputAmount");
  }
  const proved: LegRequest[] = [];
  for (const [index, leg] of legs.entries()) {
    if (leg) proved.push({ amountIn: amounts[index] ?? 0n, hops: leg });
  }
  return proved.length === legs.length ? proved : undefined;
}

/**
 * What the last hops of all legs pay together.
 * @returns undefined where one does not say
 * @throws ApiError `INVALID_QUOTE`
 */
export function readHopsOut(hops: readonly QuotedHop[]): bigint | undefined {
  let total = 0n;
  for (const group of groupByLeg(hops)) {
    const last = group.at(-1);
    if (last?.amountOut === undefined) return undefined;
    total += readHopAmount("amountOut", last.amountOut);
  }
  return total;
}

function readHopAmount(field: string, text: string): bigint {
  const amount = parseAtomicAmount(text);
  if (amount === undefined) throw invalidQuote(`a hop's ${field} is no amount`);
  return amount;
}

/** Hops leg by leg, in the order in which they stand. */
function groupByLeg(hops: readonly QuotedHop[]): QuotedHop[][] {
  const groups: QuotedHop[][] = [];
  for (const hop of hops) {
    const leg = hop.leg ?? 0;
    if (leg === groups.length) groups.push([]);
    if (leg !== groups.length - 1) throw invalidQuote("hops are not in the order of their legs");
    groups[leg]?.push(hop);
  }
  if (groups.length > MAX_LEGS) throw invalidQuote(`a route has at most ${MAX_LEGS} legs`);
  if (groups.some((group) => group.length > MAX_HOPS)) {
    throw invalidQuote(`a leg has at most ${MAX_HOPS} hops`);
  }
  return groups;
}

/** A leg's input; left out, it is the whole trade's. */
function readAmount({ amountIn }: TradeRequest, [first]: QuotedHop[], legs: number): bigint {
  if (first?.amountIn === undefined && legs === 1) return amountIn;
  const amount = first?.amountIn === undefined ? undefined : parseAtomicAmount(first.amountIn);
  if (amount === undefined) throw invalidQuote("a leg's first hop has no valid amountIn");
  return amount;
}

/** @returns undefined when a hop names no pool */
function readHops(
  trade: TradeRequest,
  group: readonly QuotedHop[],
): LegRequest["hops"] | undefined {
  const hops: { pool: PoolCandidate; tokenIn: Address; tokenOut: Address }[] = [];
  const visited = new Set<Address>([trade.tokenIn]);
  let token = trade.tokenIn;
  let isNamed = true;
  for (const [index, hop] of group.entries()) {
    if (hop.tokenIn !== undefined && !sameAddress(hop.tokenIn, token)) {
      throw invalidQuote("a hop's tokenIn is not what comes before it");
    }
    requireMeeting(group[index - 1], hop);
    const tokenOut = readTokenOut(trade, hop, index === group.length - 1);
    if (visited.has(tokenOut)) throw invalidQuote("a leg passes through a token twice");
    visited.add(tokenOut);
    const pool = readPool(trade, hop, token, tokenOut);
    if (pool) hops.push({ pool, tokenIn: token, tokenOut });
    else isNamed = false;
    token = tokenOut;
  }
  return isNamed ? hops : undefined;
}

/** A hop sells what the one before it buys. */
function requireMeeting(before: QuotedHop | undefined, { amountIn }: QuotedHop): void {
  if (before?.amountOut === undefined || amountIn === undefined) return;
  const bought = readHopAmount("amountOut", before.amountOut);
  if (readHopAmount("amountIn", amountIn) !== bought) {
    throw invalidQuote("a hop's amountIn is not what the one before it pays");
  }
}

function readTokenOut({ tokenOut }: TradeRequest, hop: QuotedHop, isLast: boolean): Address {
  if (hop.tokenOut === undefined && isLast) return tokenOut;
  if (hop.tokenOut === undefined || !isAddress(hop.tokenOut, { strict: false })) {
    throw invalidQuote("a hop's tokenOut is no address");
  }
  if (isLast && !sameAddress(hop.tokenOut, tokenOut)) {
    throw invalidQuote("a leg's last tokenOut is not the quote's");
  }
  return checksummed(hop.tokenOut);
}

/** The pool a hop names, if it names one. */
function readPool(
  { chain }: TradeRequest,
  hop: QuotedHop,
  tokenIn: Address,
  tokenOut: Address,
): PoolCandidate | undefined {
  const venues = resolveVenues(chain, hop.dexId);
  if (hop.pool === undefined && hop.fee === undefined) return undefined;
  const pool = candidatePools(venues, tokenIn, tokenOut).find(
    ({ address, feePips }) =>
      sameAddress(address, hop.pool ?? address) && feePips === (hop.fee ?? feePips),
  );
  if (!pool) throw invalidQuote(`a hop's pool is not one of ${hop.dexId} for its tokens`);
  return pool;
}

/** The error for a quote that contradicts itself or the registry. */
export function invalidQuote(reason: string): ApiError {
  return new ApiError("INVALID_QUOTE", `Invalid quote: ${reason}`);
}

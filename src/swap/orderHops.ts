import { type Address, isAddress } from "viem";
import { sameAddress } from "../chains/index.ts";
import { parseAtomicAmount } from "../lib/amounts.ts";
import { ApiError } from "../lib/errors.ts";
import { candidatePools, checksummed, type PoolCandidate } from "../market/index.ts";
import type { Quoted, QuotedHop } from "./model.ts";
import type { HopRequest, TradeRequest } from "./quoteSource.ts";
import { resolveVenues } from "./resolve.ts";
import { MAX_DEPTH, MAX_HOPS, MAX_LEGS, turnsOf, typeOf } from "./routing/index.ts";

/** A hop whose tokens were read. */
interface Way {
  readonly hop: QuotedHop;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
}

/**
 * The hops of a quote, proved: every pool is derived again from its venue's factory, the hops are a
 * graph from the input to the output token in the order of execution, and what is sold of every
 * token is what there is of it. What hops say beside that has to agree with it.
 *
 * @param dexId - the quote's venue, which must be on the route
 * @returns undefined for hops that do not say which pool they mean: the trade is routed again
 * @throws ApiError `INVALID_QUOTE`, `UNKNOWN_VENUE`
 */
export function readHops(
  trade: TradeRequest,
  dexId: string,
  route: Quoted["route"],
): HopRequest[] | undefined {
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
  if (hops.length > MAX_HOPS) throw invalidQuote(`a route has at most ${MAX_HOPS} hops`);
  const ways = readWays(trade, hops);
  requireGraph(trade, ways);
  if (route?.type !== undefined && route.type !== typeOf(ways)) {
    throw invalidQuote(`its hops are no ${route.type} route`);
  }
  const amounts = readAmounts(trade, ways);
  const proved = ways.flatMap(({ hop, tokenIn, tokenOut }, index): HopRequest[] => {
    const pool = readPool(trade, hop, tokenIn, tokenOut);
    return pool ? [{ pool, tokenIn, tokenOut, amountIn: amounts[index] ?? 0n }] : [];
  });
  if (new Set(proved.map(({ pool }) => pool.address)).size < proved.length) {
    throw invalidQuote("a pool stands twice on the route");
  }
  return proved.length === ways.length ? proved : undefined;
}

/**
 * What the hops that buy the output pay together.
 * @returns undefined where one does not say
 * @throws ApiError `INVALID_QUOTE`
 */
export function readHopsOut(trade: TradeRequest, hops: readonly QuotedHop[]): bigint | undefined {
  return boughtOf(readWays(trade, hops), trade.tokenOut);
}

/** Tokens of every hop; one that does not name what it sells sells what the one before it buys. */
function readWays(trade: TradeRequest, hops: readonly QuotedHop[]): Way[] {
  const ways: Way[] = [];
  for (const [index, hop] of hops.entries()) {
    const tokenIn =
      hop.tokenIn === undefined
        ? (ways.at(-1)?.tokenOut ?? trade.tokenIn)
        : readToken("tokenIn", hop.tokenIn);
    const isLast = index === hops.length - 1;
    const tokenOut =
      hop.tokenOut === undefined && isLast
        ? trade.tokenOut
        : readToken("tokenOut", hop.tokenOut ?? "");
    ways.push({ hop, tokenIn, tokenOut });
  }
  return ways;
}

function readToken(field: string, text: string): Address {
  if (!isAddress(text, { strict: false })) throw invalidQuote(`a hop's ${field} is no address`);
  return checksummed(text);
}

/** The hops lead from the input to the output, and a token is sold once all that buy it ran. */
function requireGraph({ tokenIn, tokenOut }: TradeRequest, ways: readonly Way[]): void {
  const depths = new Map<Address, number>([[tokenIn, 0]]);
  const over = new Set<Address>([tokenIn]);
  const turns = turnsOf(ways);
  if (turns[0]?.[0]?.tokenIn !== tokenIn) throw invalidQuote("its first hop sells another token");
  for (const [index, turn] of turns.entries()) {
    const sold = turn[0]?.tokenIn ?? tokenIn;
    const depth = (depths.get(sold) ?? Infinity) + 1;
    if (depth === Infinity) throw invalidQuote("a hop sells a token that no hop before it buys");
    if (sold === tokenOut || (index > 0 && over.has(sold))) {
      throw invalidQuote("hops are not in the order of execution");
    }
    if (depth > MAX_DEPTH) throw invalidQuote(`a route passes at most ${MAX_DEPTH} pools in a row`);
    if (turn.length > MAX_LEGS) {
      throw invalidQuote(`at most ${MAX_LEGS} hops may share a token`);
    }
    over.add(sold);
    for (const { tokenOut: bought } of turn) {
      if (over.has(bought)) throw invalidQuote("a hop buys a token that was sold before");
      depths.set(bought, Math.max(depths.get(bought) ?? 0, depth));
    }
  }
  for (const bought of depths.keys()) {
    if (bought !== tokenOut && !over.has(bought)) {
      throw invalidQuote("a hop buys a token that no hop after it sells");
    }
  }
  if (!depths.has(tokenOut)) throw invalidQuote("no hop buys the quote's outputToken");
}

/** What every hop sells: of each token all there is, which one hop alone need not say. */
function readAmounts(trade: TradeRequest, ways: readonly Way[]): bigint[] {
  return turnsOf(ways).flatMap((turn) => {
    const token = turn[0]?.tokenIn ?? trade.tokenIn;
    const there = token === trade.tokenIn ? trade.amountIn : boughtOf(ways, token);
    const named = turn.map(({ hop }) => readHopAmount("amountIn", hop.amountIn));
    const amounts = turn.length === 1 && named[0] === undefined ? [there ?? 1n] : named;
    const known = amounts.filter((amount) => amount !== undefined);
    if (known.length < turn.length) {
      throw invalidQuote("hops that share a token must say what each sells");
    }
    const total = known.reduce((sum, amount) => sum + amount, 0n);
    if (there !== undefined && total !== there) {
      throw invalidQuote(
        token === trade.tokenIn
          ? "what its hops sell does not add up to inputAmount"
          : "hops sell other than the ones before them pay",
      );
    }
    return known;
  });
}

/** What the hops that buy a token say they pay; undefined where one does not say. */
function boughtOf(ways: readonly Way[], token: Address): bigint | undefined {
  let total = 0n;
  for (const { hop, tokenOut } of ways) {
    if (tokenOut !== token) continue;
    const amount = readHopAmount("amountOut", hop.amountOut);
    if (amount === undefined) return undefined;
    total += amount;
  }
  return total;
}

function readHopAmount(field: string, text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined;
  const amount = parseAtomicAmount(text);
  if (amount === undefined) throw invalidQuote(`a hop's ${field} is no amount`);
  return amount;
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

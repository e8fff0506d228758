import { type Address, isAddress, zeroAddress } from "viem";
import { type ChainRegistry, sameAddress } from "../chains/index.ts";
import type { Config } from "../config/index.ts";
import { ApiError } from "../lib/errors.ts";
import type { BuildTxRequest, Quoted, QuotedHop } from "./model.ts";
import { checksummed, type PoolRef, poolsOf } from "./pools.ts";
import type { TradeRequest } from "./quoteSource.ts";
import {
  invalidField,
  resolveAmount,
  resolveChain,
  resolvePair,
  resolveVenues,
} from "./resolve.ts";
import { minimumOut } from "./slippage.ts";

/** What a caller wants built, after every field was checked against the registry. */
export interface Order {
  readonly trade: TradeRequest;
  readonly user: Address;
  /** The pool the quote names; undefined: the best one of the venue is taken. */
  readonly pool: PoolRef | undefined;
  /** Output the caller was told to expect. */
  readonly quotedOut: bigint;
  /** Least output the caller named; undefined: it follows from the default slippage. */
  readonly minOut: bigint | undefined;
}

/**
 * Reads an order out of a quote without believing it: tokens, venue and chain must be the
 * registry's, amounts must agree, and a pool must be the one its factory would create.
 * @throws ApiError `INVALID_FIELD`, `INVALID_QUOTE`, `UNSUPPORTED_CHAIN`, `UNKNOWN_TOKEN`,
 *   `UNKNOWN_VENUE`
 */
export function readOrder(
  registry: ChainRegistry,
  config: Config["swap"],
  { quote, userAddress }: BuildTxRequest,
): Order {
  const chain = resolveChain(registry, quote.chainId ?? config.defaultChainId);
  const pair = resolvePair(chain, quote, "quote.");
  const venues = resolveVenues(chain, quote.dexId);
  const amountIn = resolveAmount("quote.inputAmount", quote.inputAmount);
  const trade: TradeRequest = { chain, venues, ...pair, amountIn };
  const pool = readPool(trade, quote.route?.hops ?? []);
  const quotedOut = resolveAmount("quote.outputAmount", quote.outputAmount);
  const minOut = readMinOut(quote, quotedOut, config.maxSlippageBps);
  return { trade, user: readUser(trade, userAddress), pool, quotedOut, minOut };
}

function readMinOut(quote: Quoted, quotedOut: bigint, maxSlippageBps: number): bigint | undefined {
  if (quote.minOut === undefined) return undefined;
  const minOut = resolveAmount("quote.minOut", quote.minOut);
  if (minOut > quotedOut) throw invalidQuote("minOut is above outputAmount");
  if (minOut < minimumOut(quotedOut, maxSlippageBps)) {
    throw invalidQuote(`minOut is more than ${maxSlippageBps} bps below outputAmount`);
  }
  return minOut;
}

/** The pool of a quote's only hop, proved by deriving it again. */
function readPool(trade: TradeRequest, hops: readonly QuotedHop[]): PoolRef | undefined {
  const [hop, ...more] = hops;
  if (!hop) return undefined;
  if (more.length > 0) throw invalidQuote("a route of one venue has one hop");
  const { tokenIn, tokenOut, venues, amountIn } = trade;
  if (!venues.some((venue) => venue.id === hop.dexId)) {
    throw invalidQuote("the hop's dexId is not the quote's");
  }
  requireEqual("tokenIn", hop.tokenIn, tokenIn);
  requireEqual("tokenOut", hop.tokenOut, tokenOut);
  if (hop.amountIn !== undefined && hop.amountIn !== amountIn.toString()) {
    throw invalidQuote("the hop's amountIn is not the quote's inputAmount");
  }
  if (hop.pool === undefined && hop.fee === undefined) return undefined;
  const pool = poolsOf(venues, tokenIn, tokenOut).find(
    ({ address, feePips }) =>
      sameAddress(address, hop.pool ?? address) && feePips === (hop.fee ?? feePips),
  );
  if (!pool) throw invalidQuote(`the hop's pool is not one of ${hop.dexId} for these tokens`);
  return pool;
}

/** Who signs: a wallet, and none of the contracts the swap touches. */
function readUser(trade: TradeRequest, text: string): Address {
  const valid = isAddress(text, { strict: isMixedCase(text) });
  if (!valid) throw invalidField("userAddress", "a 0x address; mixed case must be its checksum");
  const user = checksummed(text);
  if (user === zeroAddress) throw invalidField("userAddress", "must not be the zero address");
  if (user === trade.tokenIn || user === trade.tokenOut) {
    throw invalidField("userAddress", "must not be a token of the swap");
  }
  const contracts = [
    ...(trade.chain.executor ? [trade.chain.executor] : []),
    ...poolsOf(trade.chain.venues, trade.tokenIn, trade.tokenOut).map((pool) => pool.address),
  ];
  if (contracts.some((contract) => sameAddress(contract, user))) {
    throw invalidField("userAddress", "must not be a contract the swap calls");
  }
  return user;
}

function isMixedCase(address: string): boolean {
  const digits = address.slice(2);
  return digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
}

function requireEqual(field: string, given: string | undefined, expected: Address): void {
  if (given !== undefined && !sameAddress(given, expected)) {
    throw invalidQuote(`the hop's ${field} is not the quote's`);
  }
}

function invalidQuote(reason: string): ApiError {
  return new ApiError("INVALID_QUOTE", `Invalid quote: ${reason}`);
}

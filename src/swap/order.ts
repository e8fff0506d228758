import { type Address, isAddress, zeroAddress } from "viem";
import { type ChainRegistry, sameAddress } from "../chains/index.ts";
import type { Config } from "../config/index.ts";
import { candidatePools, checksummed } from "../market/index.ts";
import type { BuildTxRequest, Quoted } from "./model.ts";
import { NATIVE } from "./native.ts";
import { invalidQuote, readHops, readHopsOut } from "./orderHops.ts";
import type { HopRequest, TradeRequest } from "./quoteSource.ts";
import {
  invalidField,
  type Pair,
  resolveAmount,
  resolveChain,
  resolvePair,
  resolveVenues,
} from "./resolve.ts";
import { minimumOut } from "./slippage.ts";

/** What a caller wants built, after every field was checked against the registry. */
export interface Order {
  readonly trade: TradeRequest & Pair;
  readonly user: Address;
  /** The hops the quote names; undefined: the best route over the trade's venues is taken. */
  readonly hops: readonly HopRequest[] | undefined;
  /** Output the caller was told to expect. */
  readonly quotedOut: bigint;
  /** What the quote's hops pay together, before the platform fee, where they say so. */
  readonly hopsOut: bigint | undefined;
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
  const trade = { chain, venues, ...pair, amountIn };
  const hops = readHops(trade, quote.dexId, quote.route);
  const hopsOut = hops && readHopsOut(trade, quote.route?.hops ?? []);
  const quotedOut = resolveAmount("quote.outputAmount", quote.outputAmount);
  const minOut = readMinOut(quote, quotedOut, config.maxSlippageBps);
  const user = readUser(trade, hops, userAddress);
  return { trade, user, hops, quotedOut, hopsOut, minOut };
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

/** Who signs: a wallet, and none of the contracts the swap touches. */
function readUser(
  trade: TradeRequest,
  hops: readonly HopRequest[] | undefined,
  text: string,
): Address {
  const valid = isAddress(text, { strict: isMixedCase(text) });
  if (!valid) throw invalidField("userAddress", "a 0x address; mixed case must be its checksum");
  const user = checksummed(text);
  if (user === zeroAddress) throw invalidField("userAddress", "must not be the zero address");
  const { chain, tokenIn, tokenOut } = trade;
  const tokens = [NATIVE, tokenIn, tokenOut, ...chain.tokens.map(addressOf)];
  if (tokens.some((token) => sameAddress(token, user))) {
    throw invalidField("userAddress", "must not be a token");
  }
  refuseContracts(user, [
    chain.executor,
    chain.multicall3,
    ...chain.venues.flatMap(({ factory, router, quoter }) => [factory, router, quoter]),
    ...candidatePools(chain.venues, tokenIn, tokenOut).map(addressOf),
    ...(hops ?? []).map(({ pool }) => pool.address),
  ]);
  return user;
}

/**
 * Refuses a user who is a contract of the swap.
 * @throws ApiError `INVALID_FIELD`
 */
export function refuseContracts(user: Address, contracts: readonly (string | undefined)[]): void {
  if (contracts.some((contract) => contract !== undefined && sameAddress(contract, user))) {
    throw invalidField("userAddress", "must not be a contract of the swap or its venues");
  }
}

function isMixedCase(address: string): boolean {
  const digits = address.slice(2);
  return digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
}

function addressOf({ address }: { readonly address: string }): string {
  return address;
}

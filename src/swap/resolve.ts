import { type Address, isAddress } from "viem";
import { type Chain, type ChainRegistry, findToken, type Venue } from "../chains/index.ts";
import { parseAtomicAmount } from "../lib/amounts.ts";
import { ApiError } from "../lib/errors.ts";
import { checksummed } from "../market/index.ts";
import { NATIVE } from "./native.ts";

/**
 * Two tokens as the caller names them, and as they are routed: the native asset is named
 * {@link NATIVE} and routed as its wrapped token. Addresses are checksummed.
 */
export interface Pair {
  readonly inputToken: Address;
  readonly outputToken: Address;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
}

/**
 * The EVM network with this id.
 * @throws ApiError `UNSUPPORTED_CHAIN`, also for networks without an EVM
 */
export function resolveChain(registry: ChainRegistry, chainId: number): Chain {
  const chain = registry.byId(chainId);
  if (chain?.kind === "evm") return chain;
  throw new ApiError("UNSUPPORTED_CHAIN", `Unsupported chainId: ${chainId}`);
}

/**
 * The checksummed address a caller means by a symbol of the registry, by the native asset's symbol
 * or by any address.
 * @throws ApiError `UNKNOWN_TOKEN`
 */
function resolveToken(chain: Chain, text: string): Address {
  const known = findToken(chain, text);
  if (known) return checksummed(known.address);
  if (text.toLowerCase() === chain.native.symbol.toLowerCase()) return NATIVE;
  if (isAddress(text, { strict: false })) return checksummed(text);
  throw new ApiError("UNKNOWN_TOKEN", `Unknown token: ${text}`);
}

/** The ERC-20 token that stands for a token on a route. */
function routedToken(chain: Chain, token: Address): Address {
  if (token !== NATIVE) return token;
  if (chain.wrappedNative !== undefined) return checksummed(chain.wrappedNative);
  const { symbol } = chain.native;
  const face = findToken(chain, symbol);
  throw new ApiError(
    "UNKNOWN_TOKEN",
    `Unknown token: native ${symbol} has no wrapped token on ${chain.name}` +
      (face ? `; use ${face.symbol} at ${face.address}` : ""),
  );
}

/**
 * Two different tokens. The native asset and its wrapped token are not: wrapping is no swap.
 * @param prefix - path of the object the fields are in, such as `quote.`
 * @throws ApiError `UNKNOWN_TOKEN`, `INVALID_FIELD`
 */
export function resolvePair(
  chain: Chain,
  pair: { readonly inputToken: string; readonly outputToken: string },
  prefix = "",
): Pair {
  const inputToken = resolveToken(chain, pair.inputToken);
  const outputToken = resolveToken(chain, pair.outputToken);
  const tokenIn = routedToken(chain, inputToken);
  const tokenOut = routedToken(chain, outputToken);
  if (tokenIn === tokenOut) {
    const rule =
      inputToken === outputToken
        ? "must differ from inputToken"
        : "wrapping and unwrapping the native asset is no swap";
    throw invalidField(`${prefix}outputToken`, rule);
  }
  return { inputToken, outputToken, tokenIn, tokenOut };
}

/**
 * The enabled venues of a chain, or the one named.
 * @throws ApiError `UNKNOWN_VENUE`
 */
export function resolveVenues(chain: Chain, dexId: string | undefined): readonly Venue[] {
  const enabled = chain.venues.filter((venue) => venue.enabled);
  if (dexId === undefined) return enabled;
  const named = enabled.filter((venue) => venue.id === dexId);
  if (named.length > 0) return named;
  const known = chain.venues.some((venue) => venue.id === dexId);
  const where = known ? `is disabled on ${chain.name}` : `is not a venue of ${chain.name}`;
  throw new ApiError("UNKNOWN_VENUE", `Unknown dexId: ${dexId} ${where}`);
}

/** @throws ApiError `INVALID_FIELD` naming the field */
export function resolveAmount(field: string, text: string): bigint {
  const amount = parseAtomicAmount(text);
  if (amount === undefined) {
    throw invalidField(field, "an integer in atomic units: digits only, above 0, below 2^256");
  }
  return amount;
}

/** The error for a field whose value the schema alone cannot refuse. */
export function invalidField(field: string, rule: string): ApiError {
  return new ApiError("INVALID_FIELD", `Invalid field: ${field} (${rule})`);
}

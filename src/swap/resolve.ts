import { type Address, isAddress } from "viem";
import { type Chain, type ChainRegistry, findToken, type Venue } from "../chains/index.ts";
import { parseAtomicAmount } from "../lib/amounts.ts";
import { ApiError } from "../lib/errors.ts";
import { checksummed } from "./pools.ts";

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
 * The checksummed address a caller means by a symbol of the registry or by any address.
 * @throws ApiError `UNKNOWN_TOKEN`
 */
export function resolveToken(chain: Chain, text: string): Address {
  const known = findToken(chain, text);
  if (known) return checksummed(known.address);
  if (isAddress(text, { strict: false })) return checksummed(text);
  throw new ApiError("UNKNOWN_TOKEN", `Unknown token: ${text}`);
}

/**
 * Two different tokens.
 * @param prefix - path of the object the fields are in, such as `quote.`
 * @throws ApiError `UNKNOWN_TOKEN`, `INVALID_FIELD`
 */
export function resolvePair(
  chain: Chain,
  pair: { readonly inputToken: string; readonly outputToken: string },
  prefix = "",
): { tokenIn: Address; tokenOut: Address } {
  const tokenIn = resolveToken(chain, pair.inputToken);
  const tokenOut = resolveToken(chain, pair.outputToken);
  if (tokenIn === tokenOut) {
    throw invalidField(`${prefix}outputToken`, "must differ from inputToken");
  }
  return { tokenIn, tokenOut };
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

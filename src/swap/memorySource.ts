import type { Address } from "viem";
import { type Chain, findToken, type Venue } from "../chains/index.ts";
import { ApiError } from "../lib/errors.ts";
import {
  checksummed,
  type Market,
  type MarketPool,
  MarketUnavailableError,
  type Snapshot,
} from "../market/index.ts";
import type { QuoteAuditor } from "./audit.ts";
import { unseenGas } from "./gasModel.ts";
import {
  type HopRequest,
  type PricedRoute,
  type QuoteSource,
  type StateChoice,
  type TradeRequest,
} from "./quoteSource.ts";
import {
  findRoutes,
  type GasTerms,
  hopLoss,
  type HopOrder,
  type PoolLookup,
  priceHops,
  routeLoss,
  type RoutePlan,
} from "./routing/index.ts";

/** A route is priced for building with state that was confirmed after the request came. */
const NEWEST = { maxAgeMs: 0 };

/**
 * Prices from the market's memory: while its state is young enough, without asking any node. All
 * figures of an answer are of one snapshot, whose block it names.
 * @param auditor - is offered every quote
 */
export function createMemorySource(
  market: Pick<Market, "snapshot">,
  auditor?: Pick<QuoteAuditor, "offer">,
): QuoteSource {
  return {
    async quote(request, state = {}) {
      const { chain, tokenIn, tokenOut, amountIn } = request;
      const snapshot = await read(market, request, state);
      const terms = {
        lookup: poolsAt(snapshot, request.venues),
        connectors: constantsOf(chain).connectors,
        gas: gasTerms(chain, snapshot),
      };
      const choice = findRoutes(terms, { tokenIn, tokenOut, amountIn });
      const plans = choice ? [choice.best, ...choice.alternatives] : [];
      const routes = plans.map((plan) => toPriced(plan, request.venues));
      const { blockNumber, blockHash } = snapshot;
      if (routes[0]) auditor?.offer({ chain, blockNumber, blockHash, route: routes[0] });
      return { blockNumber, outPerGas: choice?.outPerGas, routes };
    },
    async price(request, hops) {
      const snapshot = await read(market, request, NEWEST);
      const orders = hops.flatMap((hop) => withState(snapshot, hop) ?? []);
      const isKnown = orders.length === hops.length;
      const plan = isKnown ? priceHops(request.amountIn, orders) : undefined;
      return plan && toPriced(plan, request.chain.venues);
    },
  };
}

async function read(
  market: Pick<Market, "snapshot">,
  { chain, tokenIn, tokenOut }: TradeRequest,
  { maxAgeMs }: StateChoice,
): Promise<Snapshot> {
  try {
    const tokens = [tokenIn, tokenOut] as const;
    return await market.snapshot(
      chain.id,
      maxAgeMs === undefined ? { tokens } : { tokens, maxAgeMs },
    );
  } catch (error) {
    if (error instanceof MarketUnavailableError) throw new ApiError("UPSTREAM_UNREACHABLE");
    throw error;
  }
}

/** By snapshot and venues, so that what is derived from the pools is derived once per block. */
const lookups = new WeakMap<Snapshot, Map<string, PoolLookup>>();

function poolsAt(snapshot: Snapshot, venues: readonly Venue[]): PoolLookup {
  let ofSnapshot = lookups.get(snapshot);
  if (!ofSnapshot) lookups.set(snapshot, (ofSnapshot = new Map()));
  // There are as many sets of venues as a caller can name: all, each one, and none.
  const key = venues.map(({ id }) => id).join();
  let lookup = ofSnapshot.get(key);
  if (!lookup) {
    const ids = new Set(venues.map(({ id }) => id));
    lookup = {
      poolsOf: (a, b) => snapshot.poolsOf(a, b).filter(({ venueId }) => ids.has(venueId)),
    };
    ofSnapshot.set(key, lookup);
  }
  return lookup;
}

/** A hop with its pool's state; undefined where that is not known or failed its checks. */
function withState(snapshot: Snapshot, { pool, ...hop }: HopRequest): HopOrder | undefined {
  const state = snapshot
    .poolsOf(hop.tokenIn, hop.tokenOut)
    .find((known: MarketPool) => known.address === pool.address);
  return state && { ...hop, pool: state };
}

/** What quotes need of a chain's configuration, which never changes. */
interface ChainConstants {
  /** The configured connectors; every configured token where none is named. */
  readonly connectors: readonly Address[];
  /**
   * What stands for the native asset: its wrapped form or, on chains whose native asset has an
   * ERC-20 face, the token of the same symbol.
   */
  readonly native: Pick<GasTerms, "nativeToken" | "weiPerUnit"> | undefined;
}

const constants = new WeakMap<Chain, ChainConstants>();

function constantsOf(chain: Chain): ChainConstants {
  let found = constants.get(chain);
  if (!found) {
    found = { connectors: connectorsOf(chain), native: nativeOf(chain) };
    constants.set(chain, found);
  }
  return found;
}

/** Each once: through one that stood twice, a route would use its pools twice. */
function connectorsOf(chain: Chain): Address[] {
  const named = chain.connectors.flatMap((symbol) => findToken(chain, symbol) ?? []);
  const tokens = named.length > 0 ? named : chain.tokens;
  return [...new Set(tokens.map(({ address }) => checksummed(address)))];
}

function nativeOf(chain: Chain): ChainConstants["native"] {
  if (chain.wrappedNative !== undefined) {
    return { nativeToken: checksummed(chain.wrappedNative), weiPerUnit: 1 };
  }
  const face = findToken(chain, chain.native.symbol);
  if (!face) return undefined;
  const weiPerUnit = 10 ** (chain.native.decimals - face.decimals);
  return { nativeToken: checksummed(face.address), weiPerUnit };
}

/** What gas costs: the block's base fee, in the native asset. */
function gasTerms(chain: Chain, { baseFeeWei }: Snapshot): GasTerms | undefined {
  const { native } = constantsOf(chain);
  return native && baseFeeWei !== undefined ? { priceWei: baseFeeWei, ...native } : undefined;
}

function toPriced(plan: RoutePlan, venues: readonly Venue[]): PricedRoute {
  const { type, amountOut, gas, netOut } = plan;
  const { impact, kept } = routeLoss(plan.hops);
  const hops = plan.hops.map((hop) => ({
    venue: venueOf(venues, hop.pool.venueId),
    pool: hop.pool.address,
    feePips: hop.pool.feePips,
    tokenIn: hop.tokenIn,
    tokenOut: hop.tokenOut,
    amountIn: hop.amountIn,
    amountOut: hop.amountOut,
    impact: hopLoss(hop, hop.amountIn, hop.amountOut).impact,
  }));
  const unseen = unseenGas(plan.hops.map(({ pool }) => pool));
  return { type, hops, amountOut, gas, unseenGas: unseen, netOut, impact, kept };
}

function venueOf(venues: readonly Venue[], id: string): Venue {
  const venue = venues.find((known) => known.id === id);
  if (!venue) throw new Error(`venue ${id} is not of this chain`);
  return venue;
}

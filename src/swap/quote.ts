import type { ChainRegistry } from "../chains/index.ts";
import type { Config } from "../config/index.ts";
import { ApiError } from "../lib/errors.ts";
import type { Quote, QuoteRequest } from "./model.ts";
import { nativeGas } from "./native.ts";
import { showOption, showRoute } from "./rank.ts";
import type { QuoteSource, TradeRequest } from "./quoteSource.ts";
import { MAX_ROUTES } from "./routing/index.ts";
import {
  invalidField,
  type Pair,
  resolveAmount,
  resolveChain,
  resolvePair,
  resolveVenues,
} from "./resolve.ts";
import { platformFee } from "./slippage.ts";

export interface QuoteDependencies {
  readonly registry: ChainRegistry;
  readonly source: QuoteSource;
  readonly config: Config["swap"];
}

/**
 * Prices a trade over all pools of all enabled venues and gives the best route.
 * @throws ApiError `INVALID_FIELD`, `UNSUPPORTED_CHAIN`, `UNKNOWN_TOKEN`, `UNKNOWN_VENUE`,
 *   `NO_ROUTE`, `UPSTREAM_UNREACHABLE`
 */
export async function quoteTrade(
  { registry, source, config }: QuoteDependencies,
  body: QuoteRequest,
): Promise<Quote> {
  const slippageBps = body.slippageTolerance ?? config.defaultSlippageBps;
  if (slippageBps > config.maxSlippageBps) {
    throw invalidField("slippageTolerance", `basis points, at most ${config.maxSlippageBps}`);
  }
  const trade = resolveTrade(registry, config, body);
  const { blockNumber, routes } = await source.quote(trade);
  const [best, ...others] = routes.slice(0, MAX_ROUTES);
  if (!best) throw new ApiError("NO_ROUTE");

  const { platformFeeBps } = config;
  const terms = { slippageBps, platformFeeBps, nativeGas: nativeGas(trade) };
  const { type, hops, ...figures } = showRoute(best, terms);
  return {
    inputToken: trade.inputToken,
    outputToken: trade.outputToken,
    inputAmount: trade.amountIn.toString(),
    ...figures,
    platformFeeAmount: platformFee(best.amountOut, platformFeeBps).toString(),
    route: { type, hops },
    routeOptions: others.map((other) => showOption(other, best, terms)),
    chainId: trade.chain.id,
    blockNumber: Number(blockNumber),
  };
}

function resolveTrade(
  registry: ChainRegistry,
  config: Config["swap"],
  body: QuoteRequest,
): TradeRequest & Pair {
  const chain = resolveChain(registry, body.chainId ?? config.defaultChainId);
  const amountIn = resolveAmount("inputAmount", body.inputAmount);
  const venues = resolveVenues(chain, body.dexId);
  return { chain, venues, amountIn, ...resolvePair(chain, body) };
}

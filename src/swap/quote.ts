import type { ChainRegistry } from "../chains/index.ts";
import type { Config } from "../config/index.ts";
import { ApiError } from "../lib/errors.ts";
import type { Quote, QuoteRequest } from "./model.ts";
import { priceOption, priceRoute, rankQuotes } from "./rank.ts";
import type { QuoteSource, TradeRequest } from "./quoteSource.ts";
import {
  invalidField,
  resolveAmount,
  resolveChain,
  resolvePair,
  resolveVenues,
} from "./resolve.ts";
import { platformFee } from "./slippage.ts";

const MAX_ROUTE_OPTIONS = 5;

export interface QuoteDependencies {
  readonly registry: ChainRegistry;
  readonly source: QuoteSource;
  readonly config: Config["swap"];
}

/**
 * Prices a trade on all pools of all enabled venues and gives the best route.
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
  const { blockNumber, quotes } = await source.quote(trade);
  const [best, ...others] = rankQuotes(quotes);
  if (!best) throw new ApiError("NO_ROUTE");

  const terms = { slippageBps, platformFeeBps: config.platformFeeBps };
  const { type, hops, ...figures } = priceRoute(best, trade, terms);
  return {
    inputToken: trade.tokenIn,
    outputToken: trade.tokenOut,
    inputAmount: trade.amountIn.toString(),
    ...figures,
    platformFeeAmount: platformFee(best.amountOut, config.platformFeeBps).toString(),
    route: { type, hops },
    routeOptions: others
      .slice(0, MAX_ROUTE_OPTIONS)
      .map((other) => priceOption(other, best, trade, terms)),
    chainId: trade.chain.id,
    blockNumber: Number(blockNumber),
  };
}

function resolveTrade(
  registry: ChainRegistry,
  config: Config["swap"],
  body: QuoteRequest,
): TradeRequest {
  const chain = resolveChain(registry, body.chainId ?? config.defaultChainId);
  const amountIn = resolveAmount("inputAmount", body.inputAmount);
  const { tokenIn, tokenOut } = resolvePair(chain, body);
  return { chain, venues: resolveVenues(chain, body.dexId), tokenIn, tokenOut, amountIn };
}

import type { ChainRegistry } from "../chains/index.ts";
import type { Config } from "../config/index.ts";
import type { Clock } from "../lib/clock.ts";
import type { Market } from "../market/index.ts";
import type { UpstreamPool } from "../upstream/types.ts";
import type { QuoteAuditor } from "./audit.ts";
import { buildSwapTx } from "./buildTx.ts";
import { createCatalog } from "./catalog.ts";
import { createChainClients } from "./clients.ts";
import { createExecutorFinder } from "./executor.ts";
import { createMemorySource } from "./memorySource.ts";
import { createMixedSource } from "./mixedSource.ts";
import type { BuildTxRequest, BuiltTx, Dex, Quote, QuoteRequest } from "./model.ts";
import { createOnChainSource } from "./onChainSource.ts";
import { quoteTrade } from "./quote.ts";
import { createSlotFinder } from "./tokenSlots.ts";

export interface SwapDependencies {
  readonly registry: ChainRegistry;
  readonly upstream: Pick<UpstreamPool, "transport">;
  readonly market: Pick<Market, "snapshot">;
  readonly config: Config["swap"];
  readonly clock: Clock;
  /** Is offered every quote from memory. */
  readonly auditor?: Pick<QuoteAuditor, "offer">;
}

/** Quotes, unsigned swap transactions, and the catalog of venues. */
export interface SwapService {
  /** The best route of a trade, exact for the block it names. */
  quote(body: QuoteRequest): Promise<Quote>;
  /** The unsigned transactions of a quoted swap. */
  buildTx(body: BuildTxRequest): Promise<BuiltTx>;
  /** Every venue of every EVM network; the same array as long as the registry is the same. */
  dexes(): readonly Dex[];
}

/** Wires the swap feature. */
export function createSwapService(dependencies: SwapDependencies): SwapService {
  const { registry, upstream, market, config, clock, auditor } = dependencies;
  const clients = createChainClients(upstream);
  const source = createMixedSource(
    createMemorySource(market, auditor),
    createOnChainSource(clients),
  );
  const findExecutor = createExecutorFinder(clients);
  const findSlots = createSlotFinder();
  return {
    quote: (body) => quoteTrade({ registry, source, config }, body),
    buildTx: (body) =>
      buildSwapTx({ registry, source, clients, findExecutor, findSlots, clock, config }, body),
    dexes: createCatalog(registry),
  };
}

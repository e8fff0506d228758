import { type Feed, startFeeds } from "../../src/sandbox/feeds.ts";
import { serviceTarget } from "../candidates.ts";
import type { RequestTemplate, Target } from "../load/request.ts";
import { walletRequests } from "./balances.ts";
import { buildRequests } from "./buildTx.ts";
import { priceRequests } from "./prices.ts";
import { quoteRequests } from "./quotes.ts";
import { mixedRequests, RPC_PATH } from "./rpcRequests.ts";
import { startChain } from "../rig/chain.ts";
import type { Rig } from "../rig/rig.ts";
import { nodesConfig, type RunningService, startService, type Source } from "../rig/service.ts";
import { startNode } from "../rig/upstream.ts";

/** A service, and requests for everything it offers. */
export interface BusyService {
  readonly service: RunningService;
  readonly target: Target;
}

/** The local chain that quotes and transactions are made on; calls go to the scripted one. */
const SWAP_CHAIN_ID = 5042002;

/** A right answer of any operation; errors are none of these. */
const EXPECTS = '"result":|"success":true|"usd":|"balance":';

/**
 * Of 1,000 requests; calls are divided by method as in `mixedRequests`. Transactions are few enough
 * that p99 is not theirs, which is the node's.
 */
const shares = { rpc: 700, quotes: 120, prices: 80, balances: 86, builds: 4, usage: 10 } as const;

/** What the requests are, for a result's notes. */
export const BUSY_MIX =
  "Of 1,000 requests 700 are JSON-RPC calls of ten methods, 120 quotes, 80 prices, 86 balances; 4 build a transaction, 10 read the key's usage.";

/**
 * Runs with services that have all they need: a scripted node for calls and balances, a local chain
 * for quotes and transactions, and price feeds in this process.
 */
export async function withBusyServices<Outcome>(
  rig: Rig,
  sources: readonly Source[],
  run: (services: readonly BusyService[]) => Promise<Outcome>,
): Promise<Outcome> {
  const feeds = startFeeds();
  try {
    return await run(await startServices(rig, sources, feeds));
  } finally {
    await Promise.all(feeds.map((feed) => feed.stop()));
  }
}

async function startServices(
  rig: Rig,
  sources: readonly Source[],
  feeds: readonly Feed[],
): Promise<BusyService[]> {
  const node = await startNode(rig);
  const { config } = await startChain(rig, SWAP_CHAIN_ID);
  const calls = nodesConfig([node.url]);
  const services: BusyService[] = [];
  for (const source of sources) {
    const service = await startService(rig, source, {
      ...calls,
      networks: {
        ...calls.networks,
        override: { ...config.networks?.override, ...calls.networks?.override },
      },
      prices: { baseUrls: Object.fromEntries(feeds.map(({ id, url }) => [id, url])) },
    });
    const requests = [
      ...divide(shares.rpc, mixedRequests, RPC_PATH),
      ...divide(shares.quotes, quoteRequests(SWAP_CHAIN_ID)),
      ...divide(shares.prices, priceRequests),
      ...divide(shares.balances, walletRequests(node.url)),
      ...divide(shares.builds, await buildRequests(service, SWAP_CHAIN_ID)),
      { method: "GET", path: "/api/public/usage", headers: {}, weight: shares.usage * PARTS },
    ] as const;
    services.push({ service, target: serviceTarget(service, requests, EXPECTS) });
  }
  return services;
}

/** Parts a share of one thousandth is divided into, so that every weight is a whole number. */
const PARTS = 10;

/** Gives requests a share of the whole, divided by the weights they have, and a path. */
function divide(
  share: number,
  requests: readonly RequestTemplate[],
  path?: string,
): RequestTemplate[] {
  const total = requests.reduce((sum, { weight }) => sum + weight, 0);
  return requests.map((request) => ({
    ...request,
    path: path ?? request.path,
    weight: Math.round((share * PARTS * request.weight) / total),
  }));
}

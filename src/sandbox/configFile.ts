import type { ConfigFile } from "../config/index.ts";
import type { Feed } from "./feeds.ts";
import type { NodeProcess } from "./nodes.ts";
import type { PreparedChain } from "./preparedChain.ts";

/** A chain together with the forwarding nodes in front of it. */
export interface ServedChain {
  readonly chain: PreparedChain;
  readonly nodes: readonly NodeProcess[];
}

/** Pace of the local chains besides one block per transaction. */
export const BLOCK_TIME_SECONDS = 1;

/** The chain the documents' balance example names: Arc's testnet. */
const EXAMPLE_CHAIN_ID = 5042002;

/** The service's config file: the local chains in place of the real ones, and the local feeds. */
export function serviceConfig(served: readonly ServedChain[], feeds: readonly Feed[]): ConfigFile {
  const example = served.find(({ chain }) => chain.chainId === EXAMPLE_CHAIN_ID)?.nodes[0];
  return {
    networks: {
      useDefaultUpstreams: false,
      override: Object.fromEntries(
        served.map((entry) => [String(entry.chain.chainId), network(entry)]),
      ),
    },
    prices: { baseUrls: Object.fromEntries(feeds.map(({ id, url }) => [id, url])) },
    balance: {
      allowedOrigins: served.flatMap(({ chain, nodes }) => [
        chain.url,
        ...nodes.map(({ url }) => url),
      ]),
      ...(example && { exampleRpcUrl: example.url }),
    },
  };
}

function network({ chain, nodes }: ServedChain) {
  const { tokens, venues, wrappedNative, executor, multicall3 } = chain.deployment;
  return {
    blockTimeMs: BLOCK_TIME_SECONDS * 1_000,
    upstreams: nodes.map(({ url }) => ({ url })),
    tokens: [...tokens],
    connectors: ["WETH"],
    venues: [...venues],
    wrappedNative,
    executor,
    multicall3,
  };
}

import type { ConfigFile } from "../config/index.ts";
import { ROUND_SECONDS } from "./aggregators.ts";
import type { Feed } from "./feeds.ts";
import type { NodeProcess } from "./nodes.ts";
import type { PreparedChain } from "./preparedChain.ts";
import { solanaDevnet } from "../chains/networks/solana.ts";

/** A chain together with the forwarding nodes in front of it. */
export interface ServedChain {
  readonly chain: PreparedChain;
  readonly nodes: readonly NodeProcess[];
}

/** The local Solana node together with the forwarding nodes in front of it. */
export interface ServedSolana {
  readonly url: string;
  readonly nodes: readonly NodeProcess[];
}

/** Pace of the local chains besides one block per transaction. */
export const BLOCK_TIME_SECONDS = 1;

/** The chain the documents' balance example names: Arc's testnet. */
const EXAMPLE_CHAIN_ID = 5042002;

/** The service's config file: the local chains in place of the real ones, and the local feeds. */
export function serviceConfig(
  served: readonly ServedChain[],
  feeds: readonly Feed[],
  solana?: ServedSolana,
  attestationUrls?: { readonly mainnet: string; readonly testnet: string },
): ConfigFile {
  const example = served.find(({ chain }) => chain.chainId === EXAMPLE_CHAIN_ID)?.nodes[0];
  return {
    networks: {
      useDefaultUpstreams: false,
      override: {
        ...Object.fromEntries(served.map((entry) => [String(entry.chain.chainId), network(entry)])),
        ...(solana && {
          [String(solanaDevnet.id)]: { upstreams: solana.nodes.map(({ url }) => ({ url })) },
        }),
      },
    },
    prices: {
      baseUrls: Object.fromEntries(feeds.map(({ id, url }) => [id, url])),
      aggregators: aggregators(served),
    },
    ...(attestationUrls && { bridge: bridge(attestationUrls) }),
    console: { signUp: "open", account: { scopes: ["read", "swaps", "quotes", "bridges"] } },
    balance: {
      allowedOrigins: [
        ...served.flatMap(({ chain, nodes }) => urlsOf(chain.url, nodes)),
        ...(solana ? urlsOf(solana.url, solana.nodes) : []),
      ],
      ...(example && { exampleRpcUrl: example.url }),
    },
  };
}

function urlsOf(url: string, nodes: readonly NodeProcess[]): string[] {
  return [url, ...nodes.map((node) => node.url)];
}

/** The first chain's price feeds. */
function aggregators(served: readonly ServedChain[]) {
  const [first] = served;
  if (!first) return {};
  const { chainId, deployment } = first.chain;
  const heartbeatSeconds = 2 * ROUND_SECONDS;
  return Object.fromEntries(
    Object.entries(deployment.aggregators).map(([symbol, address]) => [
      symbol,
      { chainId, address, heartbeatSeconds, decimals: 8 },
    ]),
  );
}

function network({ chain, nodes }: ServedChain) {
  const { tokens, venues, wrappedNative, executor, multicall3, cctp } = chain.deployment;
  return {
    blockTimeMs: BLOCK_TIME_SECONDS * 1_000,
    upstreams: nodes.map(({ url }) => ({ url })),
    tokens: [...tokens],
    connectors: ["USDC", "USDT", "WETH"],
    venues: [...venues],
    wrappedNative,
    executor,
    multicall3,
    cctp,
  };
}

/** Local chains and a local attestation service need no patience. */
function bridge(urls: { readonly mainnet: string; readonly testnet: string }) {
  return {
    pollMs: 100,
    chainPace: { minMs: 100, maxMs: 1_000 },
    retryMs: 500,
    leaseMs: 2_000,
    forwardTimeoutMs: 20_000,
    attestation: { urls, restMs: 10_000, pace: { minMs: 250, maxMs: 2_000 } },
  };
}

import type { ChainRegistry } from "../chains/index.ts";
import type { Dex } from "./model.ts";
import { checksummed } from "../market/index.ts";

/** The catalog, listed once per state of the registry. */
export function createCatalog(registry: ChainRegistry): () => readonly Dex[] {
  let listed: { readonly of: ChainRegistry["all"]; readonly dexes: readonly Dex[] } | undefined;
  return () => {
    if (listed?.of !== registry.all) listed = { of: registry.all, dexes: listDexes(registry) };
    return listed.dexes;
  };
}

/**
 * Every venue of every EVM network. A venue supports the network's registered tokens; others can
 * be quoted by address wherever the venue has a pool for them.
 */
function listDexes(registry: ChainRegistry): Dex[] {
  return registry.all
    .filter((chain) => chain.kind === "evm")
    .flatMap((chain) =>
      chain.venues.map((venue) => ({
        id: venue.id,
        name: venue.name,
        routerAddress: checksummed(venue.router),
        factoryAddress: checksummed(venue.factory),
        quoterAddress: checksummed(venue.quoter),
        type: venue.type,
        chainId: chain.id,
        enabled: venue.enabled,
        supportedTokens: chain.tokens.map((token) => checksummed(token.address)),
      })),
    );
}

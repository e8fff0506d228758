import type { Config, NetworkData, TokenData, VenueData } from "../config/index.ts";
import { ConfigError, NetworkSchema } from "../config/index.ts";
import { Value } from "@sinclair/typebox/value";
import { builtInNetworks } from "./networks/index.ts";

/** A network the service knows. */
export type Chain = NetworkData;
export type Token = TokenData;
export type Venue = VenueData;

/** Look-up over the networks of this process; immutable after start. */
export interface ChainRegistry {
  /** All networks, by ascending id. */
  readonly all: readonly Chain[];
  /** The network with this integer id. */
  byId(id: number): Chain | undefined;
  /** The network with this name, alias or decimal id; case and `-` / `_` are ignored. */
  byName(name: string): Chain | undefined;
}

/**
 * Merges the built-in networks with the configuration's overrides.
 * @throws ConfigError when an override leaves a network incomplete
 */
export function createRegistry(config: Config["networks"]): ChainRegistry {
  const networks = new Map<number, Chain>();
  for (const network of builtInNetworks) {
    networks.set(network.id, config.useDefaultUpstreams ? network : { ...network, upstreams: [] });
  }
  for (const [id, members] of Object.entries(config.override)) {
    const merged = { ...networks.get(Number(id)), ...members, id: Number(id) };
    if (!Value.Check(NetworkSchema, merged)) {
      const first = Value.Errors(NetworkSchema, merged).First();
      throw new ConfigError(`network ${id}: ${first?.path} ${first?.message}`);
    }
    networks.set(merged.id, merged);
  }

  const byName = new Map<string, Chain>();
  for (const chain of networks.values()) {
    for (const name of [chain.name, String(chain.id), ...chain.aliases]) {
      byName.set(normalise(name), chain);
    }
  }
  const all = [...networks.values()].sort((a, b) => a.id - b.id);
  return {
    all,
    byId: (id) => networks.get(id),
    // Most names come as they are kept.
    byName: (name) => byName.get(name) ?? byName.get(normalise(name)),
  };
}

/**
 * The token a caller means by a symbol or an address.
 * @param text - symbol (case ignored) or address in any casing
 */
export function findToken({ tokens }: Chain, text: string): Token | undefined {
  let index = tokenIndexes.get(tokens);
  if (!index) tokenIndexes.set(tokens, (index = indexTokens(tokens)));
  return index.get(text.toLowerCase());
}

/** By list, because lists are replaced and never changed. */
const tokenIndexes = new WeakMap<readonly Token[], ReadonlyMap<string, Token>>();

/** Tokens by symbol and by address in lower case; of two with the same name the first counts. */
function indexTokens(tokens: readonly Token[]): ReadonlyMap<string, Token> {
  const index = new Map<string, Token>();
  for (const token of tokens) {
    for (const name of [token.symbol, token.address]) {
      const key = name.toLowerCase();
      if (!index.has(key)) index.set(key, token);
    }
  }
  return index;
}

/** Whether two EVM addresses are the same, whatever their casing. */
export function sameAddress(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

function normalise(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, "");
}

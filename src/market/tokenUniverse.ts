import type { Address } from "viem";
import { type Chain, findToken } from "../chains/index.ts";
import { checksummed } from "./candidates.ts";
import type { TokenPair } from "./discover.ts";
import { pairKey } from "./pool.ts";

/** Tokens asked for by address that are kept besides the configured ones. */
const MAX_EXTRA_TOKENS = 64;
/** Pairs looked at in one discovery. */
const MAX_PAIRS = 1_000;

/**
 * The pairs whose pools are followed: all pairs of the configured tokens, and for a token asked for
 * by address, its pairs with the connectors and with what it was asked for together with.
 */
export class TokenUniverse {
  readonly #fixed: readonly Address[];
  readonly #hubs: readonly Address[];
  /** Least recently asked for first. */
  readonly #extra = new Set<Address>();
  readonly #pairs = new Map<string, TokenPair>();

  constructor(chain: Chain) {
    const wrapped = chain.wrappedNative === undefined ? [] : [chain.wrappedNative];
    const addresses = [...chain.tokens.map(({ address }) => address), ...wrapped];
    const connectors = chain.connectors
      .map((symbol) => findToken(chain, symbol)?.address)
      .filter((address) => address !== undefined);
    this.#fixed = [...new Set([...connectors, ...addresses].map(checksummed))];
    this.#hubs = connectors.length > 0 ? connectors.map(checksummed) : this.#fixed;
    for (const [index, a] of this.#fixed.entries()) {
      for (const b of this.#fixed.slice(index + 1)) this.#add(a, b);
    }
  }

  /** Every pair, at most {@link MAX_PAIRS}; those of the connectors first. */
  get pairs(): readonly TokenPair[] {
    return [...this.#pairs.values()].slice(0, MAX_PAIRS);
  }

  /** Whether both are in a pair that is followed. Marks them as asked for. */
  knows(tokenA: Address, tokenB: Address): boolean {
    for (const token of [tokenA, tokenB]) {
      if (this.#extra.delete(token)) this.#extra.add(token);
    }
    return this.#pairs.has(pairKey(tokenA, tokenB));
  }

  /**
   * Adds what a trade of these tokens can pass through.
   * @returns the new pairs, and the tokens that had to leave for them
   */
  admit(tokenA: Address, tokenB: Address): { added: TokenPair[]; evicted: Address[] } {
    const evicted: Address[] = [];
    for (const token of [tokenA, tokenB]) {
      if (this.#fixed.includes(token)) continue;
      this.#extra.delete(token);
      this.#extra.add(token);
    }
    for (const oldest of this.#extra) {
      if (this.#extra.size <= MAX_EXTRA_TOKENS) break;
      this.#extra.delete(oldest);
      evicted.push(oldest);
    }
    for (const [key, pair] of this.#pairs) {
      if (evicted.some((token) => pair.includes(token))) this.#pairs.delete(key);
    }
    const wanted: TokenPair[] = [
      [tokenA, tokenB],
      ...this.#hubs.flatMap((hub): TokenPair[] => [
        [tokenA, hub],
        [tokenB, hub],
      ]),
    ];
    const added = wanted.filter(([a, b]) => a !== b && this.#add(a, b));
    return { added, evicted };
  }

  #add(a: Address, b: Address): boolean {
    const key = pairKey(a, b);
    if (this.#pairs.has(key)) return false;
    this.#pairs.set(key, [a, b]);
    return true;
  }
}

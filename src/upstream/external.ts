import { LRUCache } from "lru-cache";
import type { Chain } from "../chains/index.ts";
import type { ChainPool } from "./chainPool.ts";
import type { UrlGuard } from "./guard.ts";

/** URLs of callers kept connected at once. */
const MAX_EXTERNAL = 256;
/** Time without use after which a caller's URL is forgotten, ms. */
const EXTERNAL_TTL_MS = 60_000;

export interface ExternalOptions {
  readonly guard: UrlGuard;
  /** Makes a pool of the one node at `url`, reached at `address`. */
  readonly open: (chain: Chain, url: URL, address: string | undefined) => ChainPool;
}

/** The short-lived pools of URLs that callers gave. */
export class ExternalPools {
  readonly #pools: LRUCache<string, ChainPool>;

  constructor(private readonly options: ExternalOptions) {
    this.#pools = new LRUCache({
      max: MAX_EXTERNAL,
      ttl: EXTERNAL_TTL_MS,
      updateAgeOnGet: true,
      ttlAutopurge: true,
      dispose: (pool) => pool.close(),
    });
  }

  /**
   * The pool of a caller's URL, guarded each time it is used.
   * @throws what the guard throws
   */
  async get(chain: Chain, text: string): Promise<ChainPool> {
    const { url, address } = await this.options.guard.check(text);
    const key = `${chain.id} ${address ?? ""} ${url.href}`;
    const known = this.#pools.get(key);
    if (known) return known;
    const pool = this.options.open(chain, url, address);
    this.#pools.set(key, pool);
    return pool;
  }

  close(): void {
    this.#pools.clear();
  }
}

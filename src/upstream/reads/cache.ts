import { LRUCache } from "lru-cache";
import type { Span } from "../../lib/jsonSpan.ts";

/** An answer that cannot change, in the bytes its node sent. */
export interface KeptAnswer {
  readonly bytes: Uint8Array;
  readonly id: Span | undefined;
  /** Name of the upstream that gave it. */
  readonly upstream: string;
  /** Block the answer is from; undefined when it is the same at every block. */
  readonly block: number | undefined;
}

/** Memory an entry takes beside its bytes and its key, about. */
const ENTRY_OVERHEAD_BYTES = 256;
/** One entry takes at most this share of the cache. */
const MAX_ENTRY_SHARE = 1 / 8;

/** The answers of all chains that cannot change, bounded in bytes; the least used go first. */
export class AnswerCache {
  readonly #entries: LRUCache<string, KeptAnswer>;
  readonly #maxEntryBytes: number;
  /** Highest block of each chain of which something was kept. */
  readonly #highest = new Map<number, number>();

  /** @param maxBytes - size of all entries together; 0 keeps nothing */
  constructor(maxBytes: number) {
    this.#maxEntryBytes = Math.floor(maxBytes * MAX_ENTRY_SHARE);
    this.#entries = new LRUCache({
      maxSize: Math.max(1, maxBytes),
      maxEntrySize: Math.max(1, this.#maxEntryBytes),
      sizeCalculation: (entry, key) => entry.bytes.length + 2 * key.length + ENTRY_OVERHEAD_BYTES,
    });
  }

  /** Bytes in use. */
  get size(): number {
    return this.#entries.calculatedSize;
  }

  get(chainId: number, key: string): KeptAnswer | undefined {
    return this.#entries.get(`${chainId} ${key}`);
  }

  set(chainId: number, key: string, answer: KeptAnswer): void {
    if (answer.bytes.length > this.#maxEntryBytes) return;
    // A view would keep the whole buffer it looks into.
    const bytes = answer.bytes.slice();
    const highest = this.#highest.get(chainId) ?? -1;
    this.#highest.set(chainId, Math.max(highest, answer.block ?? -1));
    this.#entries.set(`${chainId} ${key}`, { ...answer, bytes });
  }

  /** Drops a chain's answers from blocks above `block`, which the chain no longer has. */
  purge(chainId: number, block: number): void {
    if (block >= (this.#highest.get(chainId) ?? -1)) return;
    this.#highest.set(chainId, block);
    const prefix = `${chainId} `;
    for (const [key, entry] of this.#entries.entries()) {
      if (key.startsWith(prefix) && (entry.block ?? -1) > block) this.#entries.delete(key);
    }
  }
}

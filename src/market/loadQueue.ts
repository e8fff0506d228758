import type { FoundPool } from "./discover.ts";

/** Pools of one chain that are known at once. */
const MAX_POOLS = 600;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** A pool that has been well this long starts afresh. */
const FORGIVE_AFTER_MS = 600_000;

interface Waiting {
  readonly pool: FoundPool;
  /** False for a pool that failed before. */
  readonly isUntried: boolean;
  readonly dueMs: number;
}

/** The pools of one chain that are known, and which of them wait to be loaded. */
export class LoadQueue {
  readonly #known = new Map<string, FoundPool>();
  /** In the order they are to be loaded. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #failures = new Map<string, { readonly count: number; readonly atMs: number }>();

  get known(): number {
    return this.#known.size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Whether some pool waits that was not tried yet. */
  get hasUntried(): boolean {
    return this.#waiting.values().some(({ isUntried }) => isUntried);
  }

  /** Takes up pools that are not known yet, to be loaded in this order; the first ones that fit. */
  admit(pools: readonly FoundPool[]): void {
    for (const pool of pools) {
      if (this.#known.has(pool.address) || this.#known.size >= MAX_POOLS) continue;
      this.#known.set(pool.address, pool);
      this.#waiting.set(pool.address, { pool, isUntried: true, dueMs: 0 });
    }
  }

  /** Forgets every pool of a token. @returns their addresses */
  forget(token: string): string[] {
    const gone = [...this.#known.values()].filter(
      ({ token0, token1 }) => token0 === token || token1 === token,
    );
    for (const { address } of gone) {
      this.#known.delete(address);
      this.#waiting.delete(address);
      this.#failures.delete(address);
    }
    return gone.map(({ address }) => address);
  }

  /** Has every known pool loaded that `isLoaded` does not name. */
  requeue(isLoaded: (address: string) => boolean): void {
    for (const [address, pool] of this.#known) {
      if (isLoaded(address) || this.#waiting.has(address)) continue;
      this.#waiting.set(address, { pool, isUntried: true, dueMs: 0 });
    }
  }

  /**
   * Pools that are due: all pairs, which are loaded together, and up to `maxV3` others, the
   * preferred ones first. They wait on until `loaded` or `failed` is told.
   */
  due(nowMs: number, maxV3: number, isFirst: (pool: FoundPool) => boolean): FoundPool[] {
    const due = [...this.#waiting.values()]
      .filter(({ dueMs }) => dueMs <= nowMs)
      .map(({ pool }) => pool);
    const others = due.filter(({ kind }) => kind === "v3");
    const preferred = new Set([...others.filter(isFirst), ...others]);
    return [...due.filter(({ kind }) => kind === "v2"), ...[...preferred].slice(0, maxV3)];
  }

  loaded(address: string): void {
    this.#waiting.delete(address);
  }

  /**
   * Notes that a pool could not be loaded, or that its state cannot be true. The first time it is
   * loaded anew at once, then after longer and longer waits.
   */
  failed(address: string, nowMs: number): void {
    const pool = this.#known.get(address);
    if (!pool) return;
    const last = this.#failures.get(address);
    const count = last && nowMs - last.atMs < FORGIVE_AFTER_MS ? last.count + 1 : 1;
    this.#failures.set(address, { count, atMs: nowMs });
    const waitMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(count - 2, 10));
    this.#waiting.delete(address);
    const dueMs = count === 1 ? nowMs : nowMs + waitMs;
    this.#waiting.set(address, { pool, isUntried: false, dueMs });
  }

  /** Time until the next pool is due, ms; undefined when none waits. */
  nextDueMs(nowMs: number): number | undefined {
    let next: number | undefined;
    for (const { dueMs } of this.#waiting.values()) {
      const waitMs = Math.max(0, dueMs - nowMs);
      if (next === undefined || waitMs < next) next = waitMs;
    }
    return next;
  }
}

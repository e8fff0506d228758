/** What a chain's memory is kept up to date by. */
export type MarketStep = "refresh" | "discover" | "load";

/** Told about what happens in the market's memory. */
export interface MarketObserver {
  /** The state was carried to a new block. */
  block?(event: {
    readonly chainId: number;
    readonly blockNumber: bigint;
    readonly logs: number;
    /** Age of the block when its state was ready, ms by the wall clock. */
    readonly ageMs: number;
    readonly durationMs: number;
  }): void;
  /** Blocks were replaced, and what they did was undone. */
  reorg?(event: { readonly chainId: number; readonly undoneBlocks: number }): void;
  /** All pools are loaded anew. */
  reset?(event: { readonly chainId: number; readonly reason: string }): void;
  /** A pool is in use, or is not quoted until it was loaded anew. */
  pool?(event: {
    readonly chainId: number;
    readonly pool: string;
    readonly state: "loaded" | "failed";
    readonly reason?: string;
  }): void;
  /** A step failed as a whole; it is tried again. */
  failure?(event: {
    readonly chainId: number;
    readonly step: MarketStep;
    readonly error: unknown;
  }): void;
}

/** Tokens of the local markets. */
export type TokenSymbol = "USDC" | "EURC" | "USDT" | "WETH";

/** Market prices the pools start at, in millionths of a US dollar. */
export const usdMicros: Readonly<Record<TokenSymbol, bigint>> = {
  USDC: 1_000_000n,
  EURC: 1_160_000n,
  USDT: 1_000_000n,
  WETH: 3_000_000_000n,
};

/** A v2 pool: both reserves are worth the same. */
export interface V2Pool {
  readonly pair: readonly [TokenSymbol, TokenSymbol];
  /** US dollars per side. */
  readonly usdPerSide: number;
  /** How much cheaper the second token is here than in the market, bps. */
  readonly discountBps?: number;
}

/** A v3 pool with overlapping positions around the market price. */
export interface V3Pool {
  readonly pair: readonly [TokenSymbol, TokenSymbol];
  /** Pips (1e-6). */
  readonly fee: 100 | 500 | 3_000 | 10_000;
  /** US dollars in all positions together. */
  readonly usdTotal: number;
  readonly positions: number;
  /** Widest position: distance of its far bound from the market price, bps. */
  readonly spreadBps: number;
}

/**
 * `venue-a`, a v3 venue: cheap and deep around the market price. With the two v2 venues below it
 * makes a market in which USDC to EURC is best on venue-b for small amounts (its EURC is cheaper,
 * its depth is not), on venue-a for middle ones, and on native-dex once venue-a runs dry.
 */
export const venueAPools: readonly V3Pool[] = [
  { pair: ["USDC", "EURC"], fee: 500, usdTotal: 4_000_000, positions: 40, spreadBps: 600 },
  { pair: ["USDC", "EURC"], fee: 3_000, usdTotal: 1_000_000, positions: 24, spreadBps: 1_500 },
  { pair: ["USDC", "EURC"], fee: 10_000, usdTotal: 200_000, positions: 6, spreadBps: 3_000 },
  { pair: ["USDC", "USDT"], fee: 100, usdTotal: 6_000_000, positions: 30, spreadBps: 100 },
  { pair: ["USDC", "USDT"], fee: 500, usdTotal: 500_000, positions: 8, spreadBps: 200 },
  { pair: ["USDT", "EURC"], fee: 500, usdTotal: 1_500_000, positions: 24, spreadBps: 600 },
  { pair: ["USDT", "EURC"], fee: 3_000, usdTotal: 400_000, positions: 8, spreadBps: 1_500 },
  { pair: ["WETH", "USDC"], fee: 500, usdTotal: 5_000_000, positions: 40, spreadBps: 2_000 },
  { pair: ["WETH", "USDC"], fee: 3_000, usdTotal: 6_000_000, positions: 40, spreadBps: 4_000 },
  { pair: ["WETH", "USDC"], fee: 10_000, usdTotal: 500_000, positions: 8, spreadBps: 6_000 },
  { pair: ["WETH", "USDT"], fee: 500, usdTotal: 800_000, positions: 12, spreadBps: 2_000 },
  { pair: ["WETH", "USDT"], fee: 3_000, usdTotal: 2_000_000, positions: 16, spreadBps: 4_000 },
  { pair: ["WETH", "EURC"], fee: 3_000, usdTotal: 1_000_000, positions: 12, spreadBps: 4_000 },
  { pair: ["WETH", "EURC"], fee: 10_000, usdTotal: 200_000, positions: 6, spreadBps: 6_000 },
];

/** `venue-b`, a v2 venue of middling depth whose EURC is a little cheaper. */
export const venueBPools: readonly V2Pool[] = [
  { pair: ["USDC", "EURC"], usdPerSide: 3_000_000, discountBps: 30 },
  { pair: ["USDC", "USDT"], usdPerSide: 1_000_000 },
  { pair: ["USDT", "EURC"], usdPerSide: 400_000 },
  { pair: ["WETH", "USDC"], usdPerSide: 2_000_000, discountBps: -20 },
  { pair: ["WETH", "USDT"], usdPerSide: 500_000 },
  { pair: ["WETH", "EURC"], usdPerSide: 500_000 },
];

/** `native-dex`, a v2 venue that is deep where it matters. */
export const nativeDexPools: readonly V2Pool[] = [
  { pair: ["USDC", "EURC"], usdPerSide: 30_000_000 },
  { pair: ["USDC", "USDT"], usdPerSide: 500_000 },
  { pair: ["USDT", "EURC"], usdPerSide: 150_000 },
  { pair: ["WETH", "USDC"], usdPerSide: 10_000_000 },
  { pair: ["WETH", "USDT"], usdPerSide: 200_000 },
  { pair: ["WETH", "EURC"], usdPerSide: 1_000_000, discountBps: 20 },
];

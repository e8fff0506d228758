import { parseUsd, type Usd } from "./usd.ts";

/** Outside these bounds a reading is a broken feed, not a market. */
export interface Bounds {
  readonly low: Usd;
  readonly high: Usd;
}

const between = (low: string, high: string): Bounds => ({
  low: parseUsd(low),
  high: parseUsd(high),
});

/** Every priced asset by symbol, in the order of the contract's prices object. */
export const assetBounds = {
  USDC: between("0.80", "1.20"),
  EURC: between("0.80", "1.60"),
  USDT: between("0.80", "1.20"),
} as const satisfies Record<string, Bounds>;

export type AssetSymbol = keyof typeof assetBounds;

/** The symbols, in the same order. */
export const assetSymbols = Object.keys(assetBounds) as readonly AssetSymbol[];

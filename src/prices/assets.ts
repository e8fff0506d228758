import { parseUsd, type Usd } from "./usd.ts";

/** Outside these bounds a reading is a broken feed, not a market. */
export interface Bounds {
  readonly low: Usd;
  readonly high: Usd;
}

/** A Chainlink price feed: a contract that answers `latestRoundData()`. */
export interface Aggregator {
  readonly chainId: number;
  readonly address: string;
  /** Longest time between two rounds, whatever the market does. */
  readonly heartbeatSeconds: number;
  /** Fractional digits of its answers; 8 for feeds in USD. */
  readonly decimals: number;
}

/** One priced asset: everything any source must know of it. A source without a name is not asked. */
export interface Asset {
  readonly bounds: Bounds;
  /** Coin id, also of DefiLlama. */
  readonly coingecko?: string;
  /** Product of Coinbase Exchange. */
  readonly coinbase?: string;
  /** Pair asked for, and the name it has in Kraken's answer. */
  readonly kraken?: { readonly ask: string; readonly answer: string };
  /** Currency pair of Bitstamp. */
  readonly bitstamp?: string;
  /** Feed id of Pyth, 32 bytes in hex without 0x. */
  readonly pyth?: string;
  readonly chainlink?: Aggregator;
}

/** Assets by symbol, in the order of the answer. */
export type AssetTable = Readonly<Record<string, Asset>>;

const between = (low: string, high: string): Bounds => ({
  low: parseUsd(low),
  high: parseUsd(high),
});

/** A feed on Ethereum; the three here promise a round a day. */
const onEthereum = (address: string): Aggregator => ({
  chainId: 1,
  address,
  heartbeatSeconds: 86_400,
  decimals: 8,
});

/** Every priced asset. Coinbase takes USDC for a dollar and has no market for it. */
export const assets: AssetTable = {
  USDC: {
    bounds: between("0.80", "1.20"),
    coingecko: "usd-coin",
    kraken: { ask: "USDCUSD", answer: "USDCUSD" },
    bitstamp: "usdcusd",
    pyth: "eaa020c61cc479712813461ce153894a96a6c00b21ed0cfc2798d1f9a9e9c94a",
    chainlink: onEthereum("0x8fFfFfd4AfB6115b954Bd326cbe7B4BA576818f6"),
  },
  EURC: {
    bounds: between("0.80", "1.60"),
    coingecko: "euro-coin",
    coinbase: "EURC-USD",
    kraken: { ask: "EURCUSD", answer: "EURCUSD" },
    pyth: "76fa85158bf14ede77087fe3ae472f66213f6ea2f5b411cb2de472794990fa5c",
    chainlink: onEthereum("0x04F84020Fdf10d9ee64D1dcC2986EDF2F556DA11"),
  },
  USDT: {
    bounds: between("0.80", "1.20"),
    coingecko: "tether",
    coinbase: "USDT-USD",
    kraken: { ask: "USDTUSD", answer: "USDTZUSD" },
    bitstamp: "usdtusd",
    pyth: "2b89b9dc8fdf9f34709a5b106b472f0f39bb6ca9ce04b0fd7f2e971688e2e53b",
    chainlink: onEthereum("0x3E7d1eAB13ad0104d2750B8863b489D65364e32D"),
  },
};

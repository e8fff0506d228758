import { member, parseExactJson } from "../../lib/exactJson.ts";
import type { AssetSymbol } from "../assets.ts";
import { parseUsd } from "../usd.ts";
import { type PriceSource, readEach, type Reading } from "./source.ts";

const coinIds: Readonly<Record<AssetSymbol, string>> = {
  USDC: "usd-coin",
  EURC: "euro-coin",
  USDT: "tether",
};

/**
 * Reads CoinGecko's `simple/price` answer: `{ "<coin id>": { usd, last_updated_at } }`, the time
 * in unix seconds.
 * @throws when no coin has a price, as with `{ "status": { "error_code": 429 } }`
 */
export function parseCoinGecko(body: string): Reading[] {
  const data = parseExactJson(body);
  return readEach((asset) => {
    const atMs = Number(member(data, coinIds[asset], "last_updated_at")) * 1_000;
    if (!Number.isSafeInteger(atMs)) throw new TypeError(`${coinIds[asset]} is not dated`);
    return { asset, price: parseUsd(member(data, coinIds[asset], "usd")), atMs };
  });
}

/** CoinGecko: volume-weighted over many markets, cached on its side for a minute or more. */
export const coingecko: PriceSource = {
  id: "coingecko",
  publicBaseUrl: "https://api.coingecko.com",
  maxAgeMs: 300_000,
  requests: [
    {
      path: `/api/v3/simple/price?ids=${Object.values(coinIds).join(",")}&vs_currencies=usd&include_last_updated_at=true&precision=full`,
      parse: parseCoinGecko,
    },
  ],
};

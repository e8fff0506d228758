import { member, parseExactJson } from "../../lib/exactJson.ts";
import { parseUsd } from "../usd.ts";
import { httpQuestion } from "./http.ts";
import { namesOf, parseUnixSeconds, readEach, type Reading, type SourceFactory } from "./source.ts";

const MAX_AGE_MS = 300_000;

/**
 * Reads CoinGecko's `simple/price` answer: `{ "<coin id>": { usd, last_updated_at } }`, the time
 * in unix seconds.
 * @param coinIds - by symbol
 * @throws when no coin has a price, as with `{ "status": { "error_code": 429 } }`
 */
export function parseCoinGecko(coinIds: ReadonlyMap<string, string>, body: string): Reading[] {
  const data = parseExactJson(body);
  return readEach(coinIds, (asset, coin) => ({
    asset,
    price: parseUsd(member(data, coin, "usd")),
    atMs: parseUnixSeconds(member(data, coin, "last_updated_at")),
    maxAgeMs: MAX_AGE_MS,
  }));
}

/**
 * CoinGecko: volume-weighted over many markets, cached on its side for a minute or more. With a
 * key of the paid plan the address is another one.
 */
export const coingecko: SourceFactory = ({ assets, baseUrls, apiKeys }) => {
  const coinIds = namesOf(assets, (asset) => asset.coingecko);
  const key = apiKeys["coingecko"];
  const publicUrl = key ? "https://pro-api.coingecko.com" : "https://api.coingecko.com";
  const query = "vs_currencies=usd&include_last_updated_at=true&precision=full";
  return {
    id: "coingecko",
    kind: "aggregator",
    timeoutMs: 5_000,
    questions: [
      httpQuestion({
        baseUrl: baseUrls["coingecko"] ?? publicUrl,
        path: `/api/v3/simple/price?ids=${[...coinIds.values()].join(",")}&${query}`,
        ...(key && { headers: { "x-cg-pro-api-key": key } }),
        parse: (body) => parseCoinGecko(coinIds, body),
      }),
    ],
  };
};

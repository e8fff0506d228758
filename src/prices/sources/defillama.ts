import { member, parseExactJson } from "../../lib/exactJson.ts";
import { parseUsd } from "../usd.ts";
import { httpQuestion } from "./http.ts";
import { namesOf, parseUnixSeconds, readEach, type Reading, type SourceFactory } from "./source.ts";

const MAX_AGE_MS = 300_000;
/** The source's own doubt, from 0 to 1; what it is less sure of is not used. */
const MIN_CONFIDENCE = 0.9;

/**
 * Reads DefiLlama's `prices/current` answer: `{ coins: { "coingecko:<id>": { price, timestamp,
 * confidence } } }`, the time in unix seconds.
 * @param coinIds - CoinGecko's ids by symbol
 * @throws when no coin has a price
 */
export function parseDefiLlama(coinIds: ReadonlyMap<string, string>, body: string): Reading[] {
  const data = parseExactJson(body);
  return readEach(coinIds, (asset, coin) => {
    const entry = member(data, "coins", `coingecko:${coin}`);
    const confidence = member(entry, "confidence");
    if (confidence !== undefined && Number(confidence) < MIN_CONFIDENCE) {
      throw new RangeError(`the source doubts its price of ${asset}`);
    }
    const price = parseUsd(member(entry, "price"));
    return {
      asset,
      price,
      atMs: parseUnixSeconds(member(entry, "timestamp")),
      maxAgeMs: MAX_AGE_MS,
    };
  });
}

/** DefiLlama. Its prices of these coins come from CoinGecko in part. */
export const defillama: SourceFactory = ({ assets, baseUrls }) => {
  const coinIds = namesOf(assets, (asset) => asset.coingecko);
  const coins = [...coinIds.values()].map((id) => `coingecko:${id}`);
  return {
    id: "defillama",
    kind: "aggregator",
    timeoutMs: 5_000,
    standsInFor: "coingecko",
    questions: [
      httpQuestion({
        baseUrl: baseUrls["defillama"] ?? "https://coins.llama.fi",
        path: `/prices/current/${coins.join(",")}`,
        parse: (body) => parseDefiLlama(coinIds, body),
      }),
    ],
  };
};

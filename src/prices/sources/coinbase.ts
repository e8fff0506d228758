import { member, parseExactJson } from "../../lib/exactJson.ts";
import { parseUsd } from "../usd.ts";
import { httpQuestion } from "./http.ts";
import { namesOf, type Reading, type SourceFactory } from "./source.ts";

const MAX_AGE_MS = 60_000;

/**
 * Reads Coinbase Exchange's product ticker: `{ ask, bid, price, size, time, trade_id, volume }`,
 * `price` and `time` being those of the last trade.
 * @throws when the answer is not a ticker, as with `{ "message": "NotFound" }`
 */
export function parseCoinbaseTicker(asset: string, body: string): Reading[] {
  const data = parseExactJson(body);
  const time = member(data, "time");
  const atMs = typeof time === "string" ? Date.parse(time) : Number.NaN;
  if (!Number.isFinite(atMs)) throw new TypeError("ticker has no time");
  return [{ asset, price: parseUsd(member(data, "price")), atMs, maxAgeMs: MAX_AGE_MS }];
}

/** Coinbase Exchange. */
export const coinbase: SourceFactory = ({ assets, baseUrls }) => ({
  id: "coinbase",
  kind: "exchange",
  timeoutMs: 3_000,
  questions: [...namesOf(assets, (asset) => asset.coinbase)].map(([symbol, product]) =>
    httpQuestion({
      baseUrl: baseUrls["coinbase"] ?? "https://api.exchange.coinbase.com",
      path: `/products/${product}/ticker`,
      parse: (body) => parseCoinbaseTicker(symbol, body),
    }),
  ),
});

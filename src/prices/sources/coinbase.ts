import { member, parseExactJson } from "../../lib/exactJson.ts";
import type { AssetSymbol } from "../assets.ts";
import { parseUsd } from "../usd.ts";
import type { FeedRequest, PriceSource, Reading } from "./source.ts";

/**
 * Reads Coinbase Exchange's product ticker: `{ ask, bid, price, size, time, trade_id, volume }`,
 * `price` and `time` being those of the last trade.
 * @throws when the answer is not a ticker, as with `{ "message": "NotFound" }`
 */
export function parseCoinbaseTicker(asset: AssetSymbol, body: string): Reading[] {
  const data = parseExactJson(body);
  const time = member(data, "time");
  const atMs = typeof time === "string" ? Date.parse(time) : NaN;
  if (!Number.isFinite(atMs)) throw new TypeError("ticker has no time");
  return [{ asset, price: parseUsd(member(data, "price")), atMs }];
}

const ticker = (asset: AssetSymbol): FeedRequest => ({
  path: `/products/${asset}-USD/ticker`,
  parse: (body) => parseCoinbaseTicker(asset, body),
});

/** Coinbase Exchange. It takes USDC for a dollar and has no USDC-USD market. */
export const coinbase: PriceSource = {
  id: "coinbase",
  publicBaseUrl: "https://api.exchange.coinbase.com",
  maxAgeMs: 60_000,
  requests: [ticker("EURC"), ticker("USDT")],
};

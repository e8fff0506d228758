import { member, parseExactJson } from "../../lib/exactJson.ts";
import { medianUsd, parseUsd } from "../usd.ts";
import { httpQuestion } from "./http.ts";
import { namesOf, parseUnixSeconds, type Reading, type SourceFactory } from "./source.ts";

const MAX_AGE_MS = 60_000;

/**
 * Reads Bitstamp's ticker: `{ last, bid, ask, timestamp, … }`, all as text, the time in unix seconds.
 * The price is the median of bid, last and ask: the last trade, unless the book has moved past it.
 * @throws when the answer is not a ticker
 */
export function parseBitstampTicker(asset: string, body: string): Reading[] {
  const data = parseExactJson(body);
  const price = medianUsd(["bid", "last", "ask"].map((side) => parseUsd(member(data, side))));
  return [
    { asset, price, atMs: parseUnixSeconds(member(data, "timestamp")), maxAgeMs: MAX_AGE_MS },
  ];
}

/** Bitstamp's spot markets. */
export const bitstamp: SourceFactory = ({ assets, baseUrls }) => ({
  id: "bitstamp",
  kind: "exchange",
  timeoutMs: 3_000,
  questions: [...namesOf(assets, (asset) => asset.bitstamp)].map(([symbol, pair]) =>
    httpQuestion({
      baseUrl: baseUrls["bitstamp"] ?? "https://www.bitstamp.net",
      path: `/api/v2/ticker/${pair}/`,
      parse: (body) => parseBitstampTicker(symbol, body),
    }),
  ),
});

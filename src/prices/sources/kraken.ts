import { member, parseExactJson } from "../../lib/exactJson.ts";
import type { Asset } from "../assets.ts";
import { medianUsd, parseUsd } from "../usd.ts";
import { httpQuestion } from "./http.ts";
import { namesOf, readEach, type Reading, type SourceFactory } from "./source.ts";

const MAX_AGE_MS = 60_000;

type Pair = NonNullable<Asset["kraken"]>;

/**
 * Reads Kraken's ticker: `{ error: [], result: { <pair>: { a: [ask…], b: [bid…], c: [last…] } } }`.
 * The price is the median of bid, last and ask: the last trade, unless the book has moved past it.
 * Nothing in the answer is dated, so readings are stamped at receipt.
 * @param pairs - by symbol
 * @throws when `error` names one (Kraken sends those with HTTP 200) or the shape is another
 */
export function parseKraken(
  pairs: ReadonlyMap<string, Pair>,
  body: string,
  receivedAtMs: number,
): Reading[] {
  const data = parseExactJson(body);
  const errors = member(data, "error");
  if (!Array.isArray(errors)) throw new TypeError("not a Kraken answer");
  // Severity is the first letter; warnings start with W and come with a result.
  const fatal = errors.find((text) => !String(text).startsWith("W"));
  if (fatal !== undefined) throw new Error(`Kraken says ${String(fatal).slice(0, 80)}`);

  return readEach(pairs, (asset, pair) => {
    const ticker = member(data, "result", pair.answer);
    const price = medianUsd(["a", "b", "c"].map((side) => parseUsd(member(ticker, side, 0))));
    return { asset, price, atMs: receivedAtMs, maxAgeMs: MAX_AGE_MS };
  });
}

/** Kraken's spot markets. */
export const kraken: SourceFactory = ({ assets, baseUrls }) => {
  const pairs = namesOf(assets, (asset) => asset.kraken);
  const asked = [...pairs.values()].map(({ ask }) => ask);
  return {
    id: "kraken",
    kind: "exchange",
    timeoutMs: 3_000,
    questions: [
      httpQuestion({
        baseUrl: baseUrls["kraken"] ?? "https://api.kraken.com",
        path: `/0/public/Ticker?pair=${asked.join(",")}`,
        parse: (body, receivedAtMs) => parseKraken(pairs, body, receivedAtMs),
      }),
    ],
  };
};

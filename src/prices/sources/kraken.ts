import { member, parseExactJson } from "../../lib/exactJson.ts";
import type { AssetSymbol } from "../assets.ts";
import { medianUsd, parseUsd } from "../usd.ts";
import { type PriceSource, readEach, type Reading } from "./source.ts";

/** Pair asked for, and the name it has in the answer. */
const pairs: Readonly<Record<AssetSymbol, { readonly ask: string; readonly answer: string }>> = {
  USDC: { ask: "USDCUSD", answer: "USDCUSD" },
  EURC: { ask: "EURCUSD", answer: "EURCUSD" },
  USDT: { ask: "USDTUSD", answer: "USDTZUSD" },
};

/**
 * Reads Kraken's ticker: `{ error: [], result: { <pair>: { a: [ask…], b: [bid…], c: [last…] } } }`.
 * The price is the median of bid, last and ask: the last trade, unless the book has moved past it.
 * Nothing in the answer is dated, so readings are stamped at receipt.
 * @throws when `error` names one (Kraken sends those with HTTP 200) or the shape is another
 */
export function parseKraken(body: string, receivedAtMs: number): Reading[] {
  const data = parseExactJson(body);
  const errors = member(data, "error");
  if (!Array.isArray(errors)) throw new TypeError("not a Kraken answer");
  // Severity is the first letter; warnings start with W and come with a result.
  const fatal = errors.find((text) => !String(text).startsWith("W"));
  if (fatal !== undefined) throw new Error(`Kraken says ${String(fatal).slice(0, 80)}`);

  return readEach((asset) => {
    const ticker = member(data, "result", pairs[asset].answer);
    const price = medianUsd(["a", "b", "c"].map((side) => parseUsd(member(ticker, side, 0))));
    return { asset, price, atMs: receivedAtMs };
  });
}

/** Kraken's spot markets. */
export const kraken: PriceSource = {
  id: "kraken",
  publicBaseUrl: "https://api.kraken.com",
  maxAgeMs: 60_000,
  requests: [
    {
      path: `/0/public/Ticker?pair=${Object.values(pairs)
        .map(({ ask }) => ask)
        .join(",")}`,
      parse: parseKraken,
    },
  ],
};

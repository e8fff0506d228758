import { member, parseExactJson } from "../../lib/exactJson.ts";
import { parseUsd } from "../usd.ts";
import { httpQuestion } from "./http.ts";
import { namesOf, parseUnixSeconds, readEach, type Reading, type SourceFactory } from "./source.ts";

const MAX_AGE_MS = 60_000;
/** Publishers that differ by more than this share of the price do not make one. */
const MAX_CONFIDENCE_BPS = 100n;

/**
 * Reads the latest updates of Pyth's Hermes: `{ parsed: [{ id, price: { price, conf, expo,
 * publish_time } }] }`, the price being `price × 10^expo` give or take `conf × 10^expo`.
 * @param feedIds - by symbol, without 0x
 * @throws when no feed has a price
 */
export function parsePyth(feedIds: ReadonlyMap<string, string>, body: string): Reading[] {
  const data = parseExactJson(body);
  const parsed = member(data, "parsed");
  if (!Array.isArray(parsed)) throw new TypeError("not a Hermes answer");
  return readEach(feedIds, (asset, feedId) => {
    const update: unknown = parsed.find((entry) => member(entry, "id") === feedId);
    const [price, confidence, exponent] = ["price", "conf", "expo"].map((key) =>
      member(update, "price", key),
    );
    const usd = parseUsd(`${String(price)}e${String(exponent)}`);
    if (BigInt(String(confidence)) * 10_000n > BigInt(String(price)) * MAX_CONFIDENCE_BPS) {
      throw new RangeError(`the source doubts its price of ${asset}`);
    }
    const atMs = parseUnixSeconds(member(update, "price", "publish_time"));
    return { asset, price: usd, atMs, maxAgeMs: MAX_AGE_MS };
  });
}

/** Pyth's Hermes, which answers nobody without a key. */
export const pyth: SourceFactory = ({ assets, baseUrls, apiKeys }) => {
  const key = apiKeys["pyth"];
  if (!key) return undefined;
  const feedIds = namesOf(assets, (asset) => asset.pyth);
  const ids = [...feedIds.values()].map((id) => `ids[]=${id}`);
  return {
    id: "pyth",
    kind: "oracle",
    timeoutMs: 3_000,
    questions: [
      httpQuestion({
        baseUrl: baseUrls["pyth"] ?? "https://hermes.pyth.network",
        path: `/v2/updates/price/latest?${ids.join("&")}&parsed=true`,
        headers: { authorization: `Bearer ${key}` },
        parse: (body) => parsePyth(feedIds, body),
      }),
    ],
  };
};

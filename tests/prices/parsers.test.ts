import { describe, expect, test } from "bun:test";
import { parseCoinbaseTicker } from "../../src/prices/sources/coinbase.ts";
import { parseCoinGecko } from "../../src/prices/sources/coingecko.ts";
import { parseKraken } from "../../src/prices/sources/kraken.ts";
import { parseBitstampTicker } from "../../src/prices/sources/bitstamp.ts";
import { parseRound } from "../../src/prices/sources/chainlink.ts";
import { parseDefiLlama } from "../../src/prices/sources/defillama.ts";
import { parsePyth } from "../../src/prices/sources/pyth.ts";
import { medianUsd, parseUsd, usdToNumber } from "../../src/prices/usd.ts";

describe("USD amounts", () => {
  test("decimals are read exactly, to 18 digits", () => {
    expect(parseUsd("0.999812345678901234")).toBe(999_812_345_678_901_234n);
    expect(parseUsd("1.1561")).toBe(1_156_100_000_000_000_000n);
    expect(parseUsd("1.15e0")).toBe(1_150_000_000_000_000_000n);
    expect(parseUsd("9.998E-1")).toBe(999_800_000_000_000_000n);
    expect(parseUsd("0.9999999999999999999")).toBe(999_999_999_999_999_999n);
  });

  test("what is not a positive finite decimal is refused", () => {
    for (const text of [
      "",
      "NaN",
      "Infinity",
      "-1",
      "0",
      "0.0",
      "1,5",
      "1.",
      ".5",
      "0x1",
      "1e999",
      " 1",
      null,
      1,
    ]) {
      expect(() => parseUsd(text)).toThrow(RangeError);
    }
  });

  test("the number answered is the double nearest to the decimal", () => {
    for (const text of ["0.1", "0.9998", "1.1561", "1.0002000000000001", "0.99975"]) {
      expect(usdToNumber(parseUsd(text))).toBe(Number(text));
    }
  });

  test("the median of an even count is the mean of the middle two, whatever the order", () => {
    expect(medianUsd([5n, 1n, 3n])).toBe(3n);
    expect(medianUsd([4n, 1n, 2n, 100n])).toBe(3n);
    expect(medianUsd([7n])).toBe(7n);
  });
});

const coins = new Map([
  ["USDC", "usd-coin"],
  ["USDT", "tether"],
]);
const pairs = new Map([
  ["USDC", { ask: "USDCUSD", answer: "USDCUSD" }],
  ["USDT", { ask: "USDTUSD", answer: "USDTZUSD" }],
]);

const llamaCoin = (id: string, rest: string) => `"coingecko:${id}":{"symbol":"X",${rest}}`;
const pythUpdate = (id: string, conf: string) =>
  `{"id":"${id}","price":{"price":"99981234","conf":"${conf}","expo":-8,"publish_time":1790000000}}`;
const abiWord = (value: bigint) => (value & ((1n << 256n) - 1n)).toString(16).padStart(64, "0");

const abiWords = (...words: bigint[]) => `0x${words.map(abiWord).join("")}` as const;

describe("documented answers", () => {
  test("CoinGecko: price and time per coin id, with every digit", () => {
    const body =
      '{"usd-coin":{"usd":0.99981234567890123,"last_updated_at":1790000000},"tether":{"usd":1,"last_updated_at":1790000001}}';
    expect(parseCoinGecko(coins, body)).toEqual([
      {
        asset: "USDC",
        price: 999_812_345_678_901_230n,
        atMs: 1_790_000_000_000,
        maxAgeMs: 300_000,
      },
      {
        asset: "USDT",
        price: 1_000_000_000_000_000_000n,
        atMs: 1_790_000_001_000,
        maxAgeMs: 300_000,
      },
    ]);
  });

  test("CoinGecko: an undated coin is left out, an error object is a failure", () => {
    const body = '{"usd-coin":{"usd":1},"tether":{"usd":1,"last_updated_at":1790000001}}';
    expect(parseCoinGecko(coins, body).map(({ asset }) => asset)).toEqual(["USDT"]);
    expect(() => parseCoinGecko(coins, '{"status":{"error_code":429}}')).toThrow();
    expect(() =>
      parseCoinGecko(coins, '{"usd-coin":{"usd":null,"last_updated_at":null}}'),
    ).toThrow();
  });

  test("Coinbase: price and time of the last trade", () => {
    const body =
      '{"ask":"1.1564","bid":"1.1561","price":"1.1563","size":"10","time":"2026-09-21T13:33:20.123456Z","trade_id":1,"volume":"5"}';
    expect(parseCoinbaseTicker("EURC", body)).toEqual([
      {
        asset: "EURC",
        price: parseUsd("1.1563"),
        atMs: Date.parse("2026-09-21T13:33:20.123Z"),
        maxAgeMs: 60_000,
      },
    ]);
    expect(() => parseCoinbaseTicker("EURC", '{"message":"NotFound"}')).toThrow();
    expect(() => parseCoinbaseTicker("EURC", '{"price":"1.1"}')).toThrow();
  });

  test("Kraken: last trade, kept inside the book; USDT under its own answer key", () => {
    const body =
      '{"error":[],"result":{"USDCUSD":{"a":["0.9999","1","1"],"b":["0.9997","1","1"],"c":["0.9998","2"]},"USDTZUSD":{"a":["1.0002"],"b":["1.0001"],"c":["0.9500"]}}}';
    expect(parseKraken(pairs, body, 5)).toEqual([
      { asset: "USDC", price: parseUsd("0.9998"), atMs: 5, maxAgeMs: 60_000 },
      { asset: "USDT", price: parseUsd("1.0001"), atMs: 5, maxAgeMs: 60_000 },
    ]);
  });

  test("Kraken: an error with HTTP 200 is a failure, a warning is not", () => {
    const result = '{"USDCUSD":{"a":["1"],"b":["1"],"c":["1"]}}';
    expect(() => parseKraken(pairs, '{"error":["EAPI:Rate limit exceeded"]}', 0)).toThrow("EAPI");
    expect(() =>
      parseKraken(pairs, `{"error":["EQuery:Unknown asset pair"],"result":${result}}`, 0),
    ).toThrow();
    expect(
      parseKraken(pairs, `{"error":["WService:degraded"],"result":${result}}`, 0),
    ).toHaveLength(1);
    expect(() => parseKraken(pairs, "[]", 0)).toThrow();
  });

  test("DefiLlama: price and time per coin; a price it doubts itself is left out", () => {
    const good = llamaCoin("usd-coin", '"price":0.99981234567890123,"timestamp":1790000000');
    const doubted = llamaCoin("tether", '"price":1,"timestamp":1790000000,"confidence":0.5');
    expect(parseDefiLlama(coins, `{"coins":{${good},${doubted}}}`)).toEqual([
      {
        asset: "USDC",
        price: 999_812_345_678_901_230n,
        atMs: 1_790_000_000_000,
        maxAgeMs: 300_000,
      },
    ]);
    expect(() => parseDefiLlama(coins, '{"coins":{}}')).toThrow();
  });

  test("Bitstamp: last trade, kept inside the book", () => {
    const body =
      '{"timestamp":"1790000000","open":"1","high":"1","low":"1","last":"0.9500","volume":"9","vwap":"1","bid":"0.9998","ask":"0.9999"}';
    expect(parseBitstampTicker("USDC", body)).toEqual([
      { asset: "USDC", price: parseUsd("0.9998"), atMs: 1_790_000_000_000, maxAgeMs: 60_000 },
    ]);
    expect(() => parseBitstampTicker("USDC", '{"status":"error"}')).toThrow();
    expect(() =>
      parseBitstampTicker("USDC", '{"last":"1","bid":"1","ask":"1","timestamp":null}'),
    ).toThrow();
  });

  test("Pyth: price scaled by its exponent; publishers that disagree make no price", () => {
    const feeds = new Map([
      ["USDC", "aa"],
      ["USDT", "bb"],
    ]);
    expect(
      parsePyth(feeds, `{"parsed":[${pythUpdate("aa", "40000")},${pythUpdate("bb", "2000000")}]}`),
    ).toEqual([
      { asset: "USDC", price: parseUsd("0.99981234"), atMs: 1_790_000_000_000, maxAgeMs: 60_000 },
    ]);
    expect(() => parsePyth(feeds, '{"parsed":[]}')).toThrow();
    expect(() => parsePyth(feeds, '{"error":"unauthorized"}')).toThrow();
  });

  test("Chainlink: eight decimals, usable for its heartbeat and a tenth", () => {
    const feed = { chainId: 1, address: "0x", heartbeatSeconds: 86_400, decimals: 8 };
    expect(parseRound("USDC", feed, abiWords(7n, 99_981_234n, 1n, 1_790_000_000n, 7n))).toEqual({
      asset: "USDC",
      price: parseUsd("0.99981234"),
      atMs: 1_790_000_000_000,
      maxAgeMs: 95_040_000,
    });
    for (const broken of [
      abiWords(7n, 0n, 1n, 1_790_000_000n, 7n),
      abiWords(7n, -1n, 1n, 1_790_000_000n, 7n),
      abiWords(7n, 1n, 1n, 0n, 7n),
      abiWords(0n, 1n, 1n, 1n, 0n),
      abiWords(7n, 1n, 1n, 2n ** 255n, 7n),
      abiWords(7n),
      "0x",
    ] as const) {
      expect(() => parseRound("USDC", feed, broken)).toThrow();
    }
  });
});

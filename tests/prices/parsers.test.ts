import { describe, expect, test } from "bun:test";
import { parseCoinbaseTicker } from "../../src/prices/sources/coinbase.ts";
import { parseCoinGecko } from "../../src/prices/sources/coingecko.ts";
import { parseKraken } from "../../src/prices/sources/kraken.ts";
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

describe("documented answers", () => {
  test("CoinGecko: price and time per coin id, with every digit", () => {
    const body =
      '{"usd-coin":{"usd":0.99981234567890123,"last_updated_at":1790000000},"tether":{"usd":1,"last_updated_at":1790000001}}';
    expect(parseCoinGecko(body)).toEqual([
      { asset: "USDC", price: 999_812_345_678_901_230n, atMs: 1_790_000_000_000 },
      { asset: "USDT", price: 1_000_000_000_000_000_000n, atMs: 1_790_000_001_000 },
    ]);
  });

  test("CoinGecko: an undated coin is left out, an error object is a failure", () => {
    const body = '{"usd-coin":{"usd":1},"tether":{"usd":1,"last_updated_at":1790000001}}';
    expect(parseCoinGecko(body).map(({ asset }) => asset)).toEqual(["USDT"]);
    expect(() => parseCoinGecko('{"status":{"error_code":429}}')).toThrow();
    expect(() => parseCoinGecko('{"usd-coin":{"usd":null,"last_updated_at":null}}')).toThrow();
  });

  test("Coinbase: price and time of the last trade", () => {
    const body =
      '{"ask":"1.1564","bid":"1.1561","price":"1.1563","size":"10","time":"2026-09-21T13:33:20.123456Z","trade_id":1,"volume":"5"}';
    expect(parseCoinbaseTicker("EURC", body)).toEqual([
      { asset: "EURC", price: parseUsd("1.1563"), atMs: Date.parse("2026-09-21T13:33:20.123Z") },
    ]);
    expect(() => parseCoinbaseTicker("EURC", '{"message":"NotFound"}')).toThrow();
    expect(() => parseCoinbaseTicker("EURC", '{"price":"1.1"}')).toThrow();
  });

  test("Kraken: last trade, kept inside the book; USDT under its own answer key", () => {
    const body =
      '{"error":[],"result":{"USDCUSD":{"a":["0.9999","1","1"],"b":["0.9997","1","1"],"c":["0.9998","2"]},"USDTZUSD":{"a":["1.0002"],"b":["1.0001"],"c":["0.9500"]}}}';
    expect(parseKraken(body, 5)).toEqual([
      { asset: "USDC", price: parseUsd("0.9998"), atMs: 5 },
      { asset: "USDT", price: parseUsd("1.0001"), atMs: 5 },
    ]);
  });

  test("Kraken: an error with HTTP 200 is a failure, a warning is not", () => {
    const result = '{"USDCUSD":{"a":["1"],"b":["1"],"c":["1"]}}';
    expect(() => parseKraken('{"error":["EAPI:Rate limit exceeded"]}', 0)).toThrow("EAPI");
    expect(() =>
      parseKraken(`{"error":["EQuery:Unknown asset pair"],"result":${result}}`, 0),
    ).toThrow();
    expect(parseKraken(`{"error":["WService:degraded"],"result":${result}}`, 0)).toHaveLength(1);
    expect(() => parseKraken("[]", 0)).toThrow();
  });
});

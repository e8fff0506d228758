import { afterAll, afterEach, expect, test } from "bun:test";
import { startFeeds } from "../../src/sandbox/feeds.ts";

const feeds = startFeeds();
const [coingecko, coinbase, kraken] = feeds;

afterEach(() => {
  for (const feed of feeds) feed.setFault(undefined);
});

afterAll(async () => {
  await Promise.all(feeds.map((feed) => feed.stop()));
});

const get = async (url: string) => JSON.parse(await (await fetch(url)).text());

const coins = `${coingecko!.url}/api/v3/simple/price?ids=usd-coin,euro-coin,tether&vs_currencies=usd&include_last_updated_at=true`;
const ticker = `${coinbase!.url}/products/EURC-USD/ticker`;
const pairs = `${kraken!.url}/0/public/Ticker?pair=USDCUSD,EURCUSD,USDTUSD`;

test("each feed answers in the shape of its public API", async () => {
  const gecko = await get(coins);
  expect(Object.keys(gecko)).toEqual(["usd-coin", "euro-coin", "tether"]);
  expect(gecko["euro-coin"].usd).toBeCloseTo(1.16, 2);
  expect(Math.abs(gecko["tether"].last_updated_at - Date.now() / 1_000)).toBeLessThan(5);

  const coin = await get(ticker);
  expect(Object.keys(coin).sort()).toEqual([
    "ask",
    "bid",
    "price",
    "size",
    "time",
    "trade_id",
    "volume",
  ]);
  expect(Number(coin.price)).toBeCloseTo(1.16, 2);
  expect(Math.abs(Date.parse(coin.time) - Date.now())).toBeLessThan(5_000);

  const book = await get(pairs);
  expect(book.error).toEqual([]);
  expect(Object.keys(book.result)).toEqual(["USDCUSD", "EURCUSD", "USDTZUSD"]);
  expect(Number(book.result.EURCUSD.c[0])).toBeCloseTo(1.16, 2);
});

test("the feeds differ a little from each other", async () => {
  const prices = [
    (await get(coins))["euro-coin"].usd,
    Number((await get(ticker)).price),
    Number((await get(pairs)).result.EURCUSD.c[0]),
  ];
  expect(new Set(prices).size).toBe(3);
  expect(Math.max(...prices) / Math.min(...prices)).toBeLessThan(1.01);
});

test("unknown markets are refused as the public APIs do", async () => {
  expect((await fetch(`${coinbase!.url}/products/USDC-USD/ticker`)).status).toBe(404);
  const unknown = await get(`${kraken!.url}/0/public/Ticker?pair=NOPE`);
  expect(unknown.error).toEqual(["EQuery:Unknown asset pair"]);
});

const set = (fault: unknown) =>
  fetch(`${coinbase!.url}/faults`, { method: "POST", body: JSON.stringify({ fault }) });

test("faults show in the answers and go away again", async () => {
  await set({ kind: "status", status: 503 });
  expect((await fetch(ticker)).status).toBe(503);
  await set({ kind: "stale", ageSeconds: 3_600 });
  expect(Date.now() - Date.parse((await get(ticker)).time)).toBeGreaterThan(3_500_000);
  await set({ kind: "nan" });
  expect(Number((await get(ticker)).price)).toBeNaN();
  await set({ kind: "absurd" });
  expect(Number((await get(ticker)).price)).toBeGreaterThan(1_000);
  await set({ kind: "hang" });
  const impatient = fetch(ticker, { signal: AbortSignal.timeout(50) });
  expect(impatient).rejects.toThrow();
  await impatient.catch(() => {});
  expect((await set({ kind: "explode" })).status).toBe(400);
  await set(null);
  expect(Number((await get(ticker)).price)).toBeCloseTo(1.16, 2);
});

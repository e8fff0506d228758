import { afterAll, expect, test } from "bun:test";
import type { AssetTable } from "../../src/prices/assets.ts";
import { assets } from "../../src/prices/assets.ts";
import { httpQuestion } from "../../src/prices/sources/http.ts";
import { sourceFactories } from "../../src/prices/sources/index.ts";
import { namesOf, readEach, type SourceFactory } from "../../src/prices/sources/source.ts";
import { parseUsd } from "../../src/prices/usd.ts";
import { startFeeds } from "./feeds.ts";
import { askEndpoint, ManualClock, pricesOver } from "./support.ts";

const clock = new ManualClock();
const feeds = startFeeds(clock);
const quotes = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => new Response('{"PYUSD":"0.9995","USDC":"0.9998","EURC":"1.1561","USDT":"1.0002"}'),
});
afterAll(async () => {
  await Promise.all([feeds.stop(), quotes.stop(true)]);
});

/** A source that names assets by symbol. */
const house: SourceFactory = ({ assets: table }) => {
  const names = namesOf(table, () => "");
  return {
    id: "house",
    kind: "exchange",
    timeoutMs: 1_000,
    questions: [
      httpQuestion({
        baseUrl: quotes.url.href,
        path: "/",
        parse: (body, receivedAtMs) => {
          const data = JSON.parse(body) as Record<string, string>;
          return readEach(names, (asset) => ({
            asset,
            price: parseUsd(data[asset]),
            atMs: receivedAtMs,
            maxAgeMs: 1_000,
          }));
        },
      }),
    ],
  };
};

const withPyusd: AssetTable = {
  ...assets,
  PYUSD: { bounds: { low: parseUsd("0.8"), high: parseUsd("1.2") }, coingecko: "paypal-usd" },
};

test("one entry adds an asset: it is asked for, answered and documented", async () => {
  const dependencies = { assets: withPyusd, sources: [...sourceFactories, house] };
  const service = pricesOver(feeds, {}, clock, { dependencies });
  const body = (await (await askEndpoint(service)).json()) as object;
  expect(Object.keys(body)).toEqual(["USDC", "EURC", "USDT", "PYUSD"]);
  expect(body).toMatchObject({ PYUSD: { usd: 0.9995 } });
});

test("one entry adds a source, which is in the median and in the headers", async () => {
  const dependencies = { sources: [house] };
  const response = await askEndpoint(pricesOver(feeds, {}, clock, { dependencies }));
  expect(response.headers.get("x-price-sources")).toBe("house");
  expect(await response.json()).toEqual({
    USDC: { usd: 0.9998 },
    EURC: { usd: 1.1561 },
    USDT: { usd: 1.0002 },
  });
});

test("a source that needs a key is asked only with one, and is sent it", async () => {
  const seen: (string | null)[] = [];
  const hermes = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      seen.push(request.headers.get("authorization"));
      return new Response("no", { status: 401 });
    },
  });
  const idsWith = (apiKeys: Record<string, string>) =>
    sourceFactories.flatMap(
      (make) =>
        make({
          assets,
          apiKeys,
          baseUrls: { pyth: hermes.url.href },
          chains: feeds.chains({}),
          chainIds: new Set([1]),
        }) ?? [],
    );
  expect(idsWith({}).map(({ id }) => id)).not.toContain("pyth");
  const pyth = idsWith({ pyth: "secret" }).find(({ id }) => id === "pyth");
  await Promise.allSettled(pyth!.questions.map((ask) => ask({ timeoutMs: 1_000, clock })));
  expect(seen).toEqual(["Bearer secret"]);
  await hermes.stop(true);
});

test("every asset has at least four sources of three kinds that need no key", () => {
  const setup = {
    assets,
    apiKeys: {},
    baseUrls: {},
    chains: feeds.chains({}),
    chainIds: new Set([1]),
  };
  const ids = sourceFactories.flatMap((make) => make(setup) ?? []);
  expect(new Set(ids.map(({ kind }) => kind)).size).toBe(3);
  for (const asset of Object.values(assets)) {
    const named = [asset.coingecko, asset.coinbase, asset.kraken, asset.bitstamp, asset.chainlink];
    expect(named.filter((name) => name !== undefined).length).toBeGreaterThanOrEqual(4);
  }
});

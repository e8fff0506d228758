import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

/** What a feed does wrong. */
const FeedFaultSchema = Type.Union([
  Type.Object({
    kind: Type.Literal("status"),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
  }),
  /** Dates its prices this far back; a feed that dates nothing ignores it. */
  Type.Object({ kind: Type.Literal("stale"), ageSeconds: Type.Integer({ minimum: 1 }) }),
  /** Prices that are no numbers. */
  Type.Object({ kind: Type.Literal("nan") }),
  /** Prices a thousand times too high. */
  Type.Object({ kind: Type.Literal("absurd") }),
  /** Never answers. */
  Type.Object({ kind: Type.Literal("hang") }),
]);

export type FeedFault = Static<typeof FeedFaultSchema>;

/** Body of `POST /faults`; null makes the feed behave. */
const FeedFaultBodySchema = Type.Object({ fault: Type.Union([FeedFaultSchema, Type.Null()]) });

/** Public APIs that have a local feed. */
const feedIds = ["coingecko", "coinbase", "kraken", "bitstamp", "defillama"] as const;
export type FeedId = (typeof feedIds)[number];

/** A local price feed with the paths and answers of a public one. */
export interface Feed {
  readonly id: FeedId;
  /** Stands in for the public API's base URL. */
  readonly url: string;
  /** Requests answered or refused since the start. */
  requests(): number;
  setFault(fault: FeedFault | undefined): void;
  stop(): Promise<void>;
}

/** Prices in US dollars. */
type Quotes = Readonly<Record<"USDC" | "EURC" | "USDT", number>>;

/** The local market. */
export const marketQuotes: Quotes = { USDC: 0.9998, EURC: 1.16, USDT: 1.0001 };
/** How far each feed is off the market, as a share of the price. */
const OFFSETS: Readonly<Record<FeedId, number>> = {
  coingecko: 0,
  coinbase: 0.0002,
  kraken: -0.0001,
  bitstamp: 0.0001,
  defillama: -0.0002,
};
/** Prices swing this much, once in ten minutes, so that they are seen to move. */
const SWING = 0.0003;
const SWING_PERIOD_MS = 600_000;

/** By CoinGecko's coin id. */
const coinSymbols: Readonly<Record<string, keyof Quotes>> = {
  "usd-coin": "USDC",
  "euro-coin": "EURC",
  tether: "USDT",
};

type Answer = (url: URL, quotes: Quotes, at: Date) => unknown;

const feedAnswers: Readonly<Record<FeedId, Answer>> = {
  coingecko: coinGeckoAnswer,
  coinbase: coinbaseAnswer,
  kraken: krakenAnswer,
  bitstamp: bitstampAnswer,
  defillama: defiLlamaAnswer,
};

/** Starts one feed on a free port of the loopback interface. */
export function startFeed(id: FeedId): Feed {
  let fault: FeedFault | undefined;
  let requests = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    routes: {
      "/faults": {
        GET: () => Response.json({ fault: fault ?? null }),
        POST: async (request) => {
          const body: unknown = await request.json().catch(() => undefined);
          if (!Value.Check(FeedFaultBodySchema, body)) {
            return Response.json({ error: "not a fault" }, { status: 400 });
          }
          fault = body.fault ?? undefined;
          return Response.json({ fault: fault ?? null });
        },
      },
    },
    fetch(request) {
      requests++;
      if (fault?.kind === "hang") return new Promise<Response>(() => {});
      if (fault?.kind === "status") return new Response("unavailable", { status: fault.status });
      const ageMs = fault?.kind === "stale" ? fault.ageSeconds * 1_000 : 0;
      const now = Date.now();
      const answer = feedAnswers[id](
        new URL(request.url),
        bend(quotesAt(id, now), fault),
        new Date(now - ageMs),
      );
      return answer === undefined
        ? Response.json({ message: "NotFound" }, { status: 404 })
        : Response.json(answer);
    },
  });
  return {
    id,
    url: `http://127.0.0.1:${server.port}`,
    requests: () => requests,
    setFault: (next) => (fault = next),
    stop: () => server.stop(true),
  };
}

/** Starts all feeds. */
export function startFeeds(): Feed[] {
  return feedIds.map(startFeed);
}

function quotesAt(id: FeedId, nowMs: number): Quotes {
  const swing = SWING * Math.sin((2 * Math.PI * nowMs) / SWING_PERIOD_MS);
  return mapQuotes(marketQuotes, (usd) => usd * (1 + OFFSETS[id] + swing));
}

function bend(quotes: Quotes, fault: FeedFault | undefined): Quotes {
  if (fault?.kind === "nan") return mapQuotes(quotes, () => Number.NaN);
  return fault?.kind === "absurd" ? mapQuotes(quotes, (usd) => usd * 1_000) : quotes;
}

function mapQuotes(quotes: Quotes, map: (usd: number) => number): Quotes {
  return { USDC: map(quotes.USDC), EURC: map(quotes.EURC), USDT: map(quotes.USDT) };
}

/** Bitstamp's `GET /api/v2/ticker/{pair}/`; the time in unix seconds, as text. */
function bitstampAnswer(url: URL, quotes: Quotes, at: Date): unknown {
  const symbol = /^\/api\/v2\/ticker\/(usdc|usdt)usd\/$/.exec(url.pathname)?.[1]?.toUpperCase();
  if (symbol !== "USDC" && symbol !== "USDT") return undefined;
  const [last, ask, bid] = [1, 1.0001, 0.9999].map((side) => (quotes[symbol] * side).toFixed(5));
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  return {
    timestamp,
    open: last,
    high: ask,
    low: bid,
    last,
    volume: "81234.1",
    vwap: last,
    bid,
    ask,
  };
}

/** DefiLlama's `GET /prices/current/{coins}`; the time in unix seconds. */
function defiLlamaAnswer(url: URL, quotes: Quotes, at: Date): unknown {
  const asked = /^\/prices\/current\/(.+)$/.exec(decodeURIComponent(url.pathname))?.[1]?.split(",");
  if (!asked) return undefined;
  const timestamp = Math.floor(at.getTime() / 1_000);
  const coins = asked.flatMap((name) => {
    const symbol = coinSymbols[name.replace("coingecko:", "")];
    return symbol ? [[name, { price: quotes[symbol], symbol, timestamp, confidence: 0.99 }]] : [];
  });
  return { coins: Object.fromEntries(coins) };
}

/** CoinGecko's `GET /api/v3/simple/price`; the time in unix seconds. */
function coinGeckoAnswer(url: URL, quotes: Quotes, at: Date): unknown {
  if (url.pathname !== "/api/v3/simple/price") return undefined;
  const asked = (url.searchParams.get("ids") ?? "").split(",");
  const lastUpdatedAt = Math.floor(at.getTime() / 1_000);
  return Object.fromEntries(
    asked.flatMap((id) => {
      const symbol = coinSymbols[id];
      return symbol ? [[id, { usd: quotes[symbol], last_updated_at: lastUpdatedAt }]] : [];
    }),
  );
}

/** Coinbase Exchange's `GET /products/{product}/ticker`; there is no USDC-USD market. */
function coinbaseAnswer(url: URL, quotes: Quotes, at: Date): unknown {
  const symbol = /^\/products\/(EURC|USDT)-USD\/ticker$/.exec(url.pathname)?.[1];
  if (symbol !== "EURC" && symbol !== "USDT") return undefined;
  const usd = quotes[symbol];
  return {
    ask: (usd * 1.0001).toFixed(5),
    bid: (usd * 0.9999).toFixed(5),
    volume: "1284512.31",
    trade_id: Math.floor(at.getTime() / 1_000),
    price: usd.toFixed(5),
    size: "250.5",
    time: at.toISOString(),
  };
}

/** Kraken's `GET /0/public/Ticker`; errors come with HTTP 200, and USDT has a name of its own. */
function krakenAnswer(url: URL, quotes: Quotes): unknown {
  if (url.pathname !== "/0/public/Ticker") return undefined;
  const pairs: Readonly<Record<string, readonly [name: string, usd: number]>> = {
    USDCUSD: ["USDCUSD", quotes.USDC],
    EURCUSD: ["EURCUSD", quotes.EURC],
    USDTUSD: ["USDTZUSD", quotes.USDT],
  };
  const result: Record<string, unknown> = {};
  for (const pair of (url.searchParams.get("pair") ?? "").split(",")) {
    const found = pairs[pair];
    if (!found) return { error: ["EQuery:Unknown asset pair"] };
    result[found[0]] = krakenTicker(found[1]);
  }
  return { error: [], result };
}

function krakenTicker(usd: number): unknown {
  const [price, ask, bid] = [usd, usd * 1.0001, usd * 0.9999].map((value) => value.toFixed(5));
  return {
    a: [ask, "1000", "1000.000"],
    b: [bid, "1000", "1000.000"],
    c: [price, "12.50000000"],
    v: ["51234.1", "101234.5"],
    p: [price, price],
    t: [312, 844],
    l: [bid, bid],
    h: [ask, ask],
    o: price,
  };
}

import type { Clock } from "../../src/lib/clock.ts";

/** What a scripted source does in place of answering well. */
export const faults = [
  "timeout",
  "429",
  "500",
  "error-200",
  "nan",
  "zero",
  "negative",
  "stale",
  "absurd-high",
  "absurd-low",
  "not-json",
  "huge",
  "redirect",
  "truncated",
  "unreachable",
] as const;
export type Fault = (typeof faults)[number];
/** `high` and `low` answer well-formed prices 5 % off. */
export type Mode = "good" | "high" | "low" | Fault;

export const sourceIds = ["coingecko", "coinbase", "kraken"] as const;
export type SourceId = (typeof sourceIds)[number];

/** Prices of the sources that work. Coinbase has no USDC market. */
export const goodPrices: Record<SourceId, Record<string, string>> = {
  coingecko: { USDC: "0.9998", EURC: "1.1561", USDT: "1.0002" },
  coinbase: { EURC: "1.1563", USDT: "1.0001" },
  kraken: { USDC: "0.9997", EURC: "1.1559", USDT: "1.0004" },
};

/** A server that plays all three feeds; the fault is chosen by the base URL, so it keeps no state. */
export interface FeedServer {
  /** Base URLs, by source, that answer as told. */
  baseUrls(modes: Partial<Record<SourceId, Mode>>): Record<SourceId, string>;
  /** Requests seen so far, as `source mode`. */
  readonly seen: string[];
  /** Called on every request, before it is answered. */
  onRequest: () => void;
  stop(): Promise<void>;
}

/** Starts the feeds on a free port; their time stamps follow `clock`. */
export function startFeeds(clock: Clock): FeedServer {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 30,
    fetch(request) {
      const url = new URL(request.url);
      const [, source, mode, ...path] = url.pathname.split("/");
      feeds.seen.push(`${source} ${mode}`);
      feeds.onRequest();
      return answer(source as SourceId, mode as Mode, path.join("/"), clock);
    },
  });
  const feeds: FeedServer = {
    seen: [],
    onRequest: () => undefined,
    baseUrls: (modes) => {
      const baseUrl = (id: SourceId) =>
        modes[id] === "unreachable"
          ? "http://127.0.0.1:1/"
          : `${server.url}${id}/${modes[id] ?? "good"}/`;
      return {
        coingecko: baseUrl("coingecko"),
        coinbase: baseUrl("coinbase"),
        kraken: baseUrl("kraken"),
      };
    },
    stop: () => server.stop(true),
  };
  return feeds;
}

async function answer(source: SourceId, mode: Mode, path: string, clock: Clock): Promise<Response> {
  switch (mode) {
    case "timeout":
      return new Promise(() => undefined);
    case "429":
      return new Response("slow down", { status: 429, headers: { "retry-after": "120" } });
    case "500":
      return new Response("oops", { status: 500 });
    case "error-200":
      return Response.json(errorBody(source));
    case "not-json":
      return new Response("<html>maintenance</html>");
    case "huge":
      return new Response(`{"pad":"${"x".repeat(400_000)}"}`);
    case "redirect":
      return Response.redirect("http://127.0.0.1:1/", 302);
    case "truncated":
      return new Response('{"usd-coin":{"usd":1.0');
    default:
      return body(source, path, (asset) => price(source, asset, mode), stamp(mode, clock), mode);
  }
}

function errorBody(source: SourceId): unknown {
  if (source === "coingecko") return { status: { error_code: 429, error_message: "limit" } };
  if (source === "coinbase") return { message: "NotFound" };
  return { error: ["EGeneral:Too many requests"] };
}

const stamp = (mode: Mode, clock: Clock) => clock.now() - (mode === "stale" ? 3_600_000 : 1_000);

function price(source: SourceId, asset: string, mode: Mode): string {
  const good = goodPrices[source][asset] ?? "";
  const written: Partial<Record<Mode, string>> = {
    nan: "NaN",
    zero: "0.0000",
    negative: `-${good}`,
    "absurd-high": "250.5",
    "absurd-low": "0.0001",
    high: (Number(good) * 1.05).toFixed(6),
    low: (Number(good) * 0.95).toFixed(6),
  };
  return written[mode] ?? good;
}

/** The documented answer of each source; NaN is not JSON, so CoinGecko sends it as feeds do: bare. */
function body(
  source: SourceId,
  path: string,
  priceOf: (asset: string) => string,
  atMs: number,
  mode: Mode,
): Response {
  if (source === "coingecko") {
    const coin = (asset: string) =>
      `{"usd":${priceOf(asset)},"last_updated_at":${Math.floor(atMs / 1_000)}}`;
    return new Response(
      `{"usd-coin":${coin("USDC")},"euro-coin":${coin("EURC")},"tether":${coin("USDT")}}`,
    );
  }
  if (source === "coinbase") {
    const asset = /^products\/([A-Z]+)-USD\/ticker$/.exec(path)?.[1] ?? "";
    if (!(asset in goodPrices.coinbase)) return Response.json({ message: "NotFound" });
    const text = priceOf(asset);
    const time = new Date(atMs).toISOString();
    return Response.json({
      ask: text,
      bid: text,
      price: text,
      size: "1",
      time,
      trade_id: 1,
      volume: "9",
    });
  }
  // Kraken dates nothing, so what it can do in place of a stale price is to have no market.
  if (mode === "stale") return Response.json({ error: [], result: {} });
  const pair = (asset: string) => {
    const text = priceOf(asset);
    return { a: [text, "1", "1.000"], b: [text, "1", "1.000"], c: [text, "0.5"] };
  };
  return Response.json({
    error: [],
    result: { USDCUSD: pair("USDC"), EURCUSD: pair("EURC"), USDTZUSD: pair("USDT") },
  });
}

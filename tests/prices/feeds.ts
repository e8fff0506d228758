import { encodeFunctionResult, type Hex, parseAbi } from "viem";
import type { CancelSignal } from "../../src/lib/cancel.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { assets } from "../../src/prices/assets.ts";
import {
  type RpcCall,
  UpstreamUnavailableError,
  type UpstreamPool,
} from "../../src/upstream/index.ts";

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

export const sourceIds = [
  "coingecko",
  "coinbase",
  "kraken",
  "chainlink",
  "bitstamp",
  "defillama",
] as const;
export type SourceId = (typeof sourceIds)[number];
export type Modes = Partial<Record<SourceId, Mode>>;

/** Requests of one round: one each, but one per asset to Coinbase, Chainlink and Bitstamp. */
export const ROUND_REQUESTS = 10;

/** Prices of the sources that work. Coinbase has no USDC market, Bitstamp none for EURC. */
export const goodPrices: Record<SourceId, Record<string, string>> = {
  coingecko: { USDC: "0.9998", EURC: "1.1561", USDT: "1.0002" },
  coinbase: { EURC: "1.1563", USDT: "1.0001" },
  kraken: { USDC: "0.9997", EURC: "1.1559", USDT: "1.0004" },
  chainlink: { USDC: "0.9996", EURC: "1.1562", USDT: "1.0003" },
  bitstamp: { USDC: "0.9999", USDT: "1.0005" },
  defillama: { USDC: "0.9991", EURC: "1.1551", USDT: "0.9991" },
};

/** Every source, scripted. */
export interface Feeds {
  /** Base URLs, by HTTP source, that answer as `modes` says at the time of the request. */
  baseUrls(modes: Modes): Record<string, string>;
  /** The chain of the Chainlink feeds, likewise. */
  chains(modes: Modes): Pick<UpstreamPool, "call">;
  /** Requests seen so far, as `source mode`. */
  readonly seen: string[];
  /** Called on every request, before it is answered. */
  onRequest: () => void;
  stop(): Promise<void>;
}

/** Starts the feeds on a free port; their time stamps follow `clock`. */
export function startFeeds(clock: Clock): Feeds {
  const scripts: Modes[] = [];
  const note = (source: SourceId, mode: Mode) => {
    feeds.seen.push(`${source} ${mode}`);
    feeds.onRequest();
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 30,
    fetch(request) {
      const url = new URL(request.url);
      const [, source, script, ...path] = url.pathname.split("/") as [string, SourceId, string];
      const mode = scripts[Number(script)]?.[source] ?? "good";
      note(source, mode);
      return answer(source, mode, (path as string[]).join("/"), clock);
    },
  });
  const feeds: Feeds = {
    seen: [],
    onRequest: () => undefined,
    baseUrls(modes) {
      const script = scripts.push(modes) - 1;
      const urls = sourceIds.map((id) => [
        id,
        modes[id] === "unreachable" ? "http://127.0.0.1:1/" : `${server.url}${id}/${script}/`,
      ]);
      return Object.fromEntries(urls);
    },
    chains: (modes) => ({
      async call(_chainId, call, options) {
        const mode = modes.chainlink ?? "good";
        note("chainlink", mode);
        return reply(await aggregatorAnswer(mode, call, clock, options?.signal));
      },
    }),
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
    case "unreachable":
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
  if (source === "bitstamp") return { status: "error", reason: "Invalid symbol" };
  if (source === "defillama") return { coins: {} };
  return { error: ["EGeneral:Too many requests"] };
}

const stamp = (mode: Mode, clock: Clock) => clock.now() - (mode === "stale" ? 360_000_000 : 1_000);

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

type PriceOf = (asset: string) => string;

/** The documented answer of each source; NaN is not JSON, so CoinGecko sends it as feeds do: bare. */
function body(
  source: SourceId,
  path: string,
  priceOf: PriceOf,
  atMs: number,
  mode: Mode,
): Response {
  const seconds = Math.floor(atMs / 1_000);
  if (source === "coingecko") {
    const coin = (asset: string) => `{"usd":${priceOf(asset)},"last_updated_at":${seconds}}`;
    return new Response(
      `{"usd-coin":${coin("USDC")},"euro-coin":${coin("EURC")},"tether":${coin("USDT")}}`,
    );
  }
  if (source === "defillama") {
    const coin = (id: string, asset: string) =>
      `"coingecko:${id}":{"price":${priceOf(asset)},"symbol":"${asset}","timestamp":${seconds},"confidence":0.99}`;
    const coins = [coin("usd-coin", "USDC"), coin("euro-coin", "EURC"), coin("tether", "USDT")];
    return new Response(`{"coins":{${coins.join(",")}}}`);
  }
  if (source === "coinbase") return coinbaseTicker(path, priceOf, atMs);
  if (source === "bitstamp") return bitstampTicker(path, priceOf, seconds);
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

function coinbaseTicker(path: string, priceOf: PriceOf, atMs: number): Response {
  const asset = /^products\/([A-Z]+)-USD\/ticker$/.exec(path)?.[1] ?? "";
  if (!(asset in goodPrices.coinbase)) return Response.json({ message: "NotFound" });
  const text = priceOf(asset);
  const time = new Date(atMs).toISOString();
  const sides = { ask: text, bid: text, price: text };
  return Response.json({ ...sides, size: "1", time, trade_id: 1, volume: "9" });
}

function bitstampTicker(path: string, priceOf: PriceOf, seconds: number): Response {
  const asset = /^api\/v2\/ticker\/([a-z]+)usd\/$/.exec(path)?.[1]?.toUpperCase() ?? "";
  if (!(asset in goodPrices.bitstamp)) return Response.json({ code: "404" }, { status: 404 });
  const text = priceOf(asset);
  return Response.json({ timestamp: String(seconds), bid: text, last: text, ask: text });
}

const abi = parseAbi([
  "function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)",
]);

/** What a node says when a feed's contract is called; faults of HTTP are the pool's own failures. */
async function aggregatorAnswer(
  mode: Mode,
  { params }: RpcCall,
  clock: Clock,
  signal: CancelSignal | undefined,
): Promise<string> {
  switch (mode) {
    case "timeout":
      return new Promise((_resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
      });
    case "429":
    case "500":
    case "unreachable":
    case "redirect":
    case "truncated":
      throw new UpstreamUnavailableError("no upstream answered");
    case "error-200":
      return '{"jsonrpc":"2.0","id":1,"error":{"code":3,"message":"execution reverted"}}';
    case "not-json":
      return "<html>";
    case "huge":
      return `{"jsonrpc":"2.0","id":1,"result":"0x${"00".repeat(1_000)}"}`;
    case "nan":
      return '{"jsonrpc":"2.0","id":1,"result":"0x"}';
    default:
      return `{"jsonrpc":"2.0","id":1,"result":"${round(mode, params ?? "", clock)}"}`;
  }
}

function round(mode: Mode, params: string, clock: Clock): Hex {
  const asset = Object.keys(assets).find((symbol) =>
    params.includes(assets[symbol]?.chainlink?.address ?? "-"),
  );
  const usd = Number(price("chainlink", asset ?? "", mode));
  const seconds = BigInt(Math.floor(stamp(mode, clock) / 1_000));
  return encodeFunctionResult({
    abi,
    functionName: "latestRoundData",
    result: [7n, BigInt(Math.round(usd * 1e8)), seconds, seconds, 7n],
  });
}

function reply(text: string) {
  return {
    bytes: new TextEncoder().encode(text),
    id: undefined,
    isError: text.includes('"error"'),
    upstream: "scripted",
    attempts: 1,
    source: "upstream",
    hedged: false,
    retried: false,
  } as const;
}

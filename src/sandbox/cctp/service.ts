import { Value } from "@sinclair/typebox/value";
import { type AttestedChain, createLedger, type PollAnswer } from "./ledger.ts";
import { type Mood, MoodBodySchema } from "./moods.ts";

/** A local attestation service with the paths and answers of Circle's ("Iris", v2). */
export interface AttestationService {
  /** Base URLs, one per environment as the real ones are. */
  readonly urls: { readonly mainnet: string; readonly testnet: string };
  /** Takes moods over HTTP, for those outside this process. */
  readonly moodsUrl: string;
  /** How burns heard of from now on are treated. */
  setMood(mood: Mood): void;
  /** Answers 429 to everything for this long. */
  block(ms: number): void;
  /** Polls answered or refused so far: their times, ms on the monotonic clock. */
  polls(): readonly number[];
  stop(): Promise<void>;
}

export interface AttestationChains {
  readonly mainnet: readonly AttestedChain[];
  readonly testnet: readonly AttestedChain[];
}

/** Domains whose blocks are final at once: their burns have no fast tier. */
const INSTANT_DOMAINS = new Set([26]);
/** Atomic USDC. */
const FORWARD_FEE = { low: 206_035, med: 207_543, high: 209_052 };
const SETUP_FEE = 180_000;
const FAST_FEE_BPS = 1.3;
const MAX_POLLS_KEPT = 100_000;

/** Starts the service on a free port of the loopback interface. */
export function startAttestationService(chains: AttestationChains): AttestationService {
  const ledgers = { mainnet: createLedger(chains.mainnet), testnet: createLedger(chains.testnet) };
  const polls: number[] = [];
  let mood: Mood = {};
  let blockedUntil = 0;

  async function answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    if (url.pathname === "/moods") return takeMood(request);
    const [, environment, path = ""] = /^\/(mainnet|testnet)(\/.*)$/.exec(url.pathname) ?? [];
    if (environment !== "mainnet" && environment !== "testnet") return json(404, {});
    const isPoll = path.startsWith("/v2/messages/");
    if (isPoll && polls.length < MAX_POLLS_KEPT) polls.push(performance.now());
    if (performance.now() < blockedUntil) return json(429, { message: "Too many requests" });
    return toResponse(await route(ledgers[environment], request.method, path, url.searchParams));
  }

  async function route(
    ledger: (typeof ledgers)["mainnet"],
    method: string,
    path: string,
    query: URLSearchParams,
  ): Promise<PollAnswer> {
    const [, domain] = /^\/v2\/messages\/([0-9]+)$/.exec(path) ?? [];
    if (domain) return ledger.poll(Number(domain), query.get("transactionHash") ?? "", mood);
    const [, source] = /^\/v2\/burn\/USDC\/fees\/([0-9]+)\/[0-9]+$/.exec(path) ?? [];
    if (source) return { status: 200, body: feeTiers(Number(source), query) };
    const [, nonce] = /^\/v2\/reattest\/(0x[0-9a-fA-F]{64})$/.exec(path) ?? [];
    if (nonce && method === "POST") return ledger.reattest(nonce);
    if (path === "/v2/fastBurn/USDC/allowance") {
      const lastUpdated = new Date().toISOString();
      return { status: 200, body: { allowance: 123_999.999999, lastUpdated } };
    }
    return { status: 404, body: { message: "Not found" } };
  }

  async function takeMood(request: Request): Promise<Response> {
    if (request.method === "GET") return json(200, { mood });
    const body: unknown = await request.json().catch(() => undefined);
    if (!Value.Check(MoodBodySchema, body)) return json(400, { error: "not a mood" });
    if (body.mood) mood = body.mood;
    if (body.blockMs !== undefined) blockedUntil = performance.now() + body.blockMs;
    return json(200, { mood });
  }

  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, fetch: answer });
  const base = `http://127.0.0.1:${server.port}`;
  return {
    moodsUrl: `${base}/moods`,
    urls: { mainnet: `${base}/mainnet`, testnet: `${base}/testnet` },
    setMood: (next) => (mood = next),
    block: (ms) => (blockedUntil = performance.now() + ms),
    polls: () => polls,
    stop: () => server.stop(true),
  };
}

function feeTiers(source: number, query: URLSearchParams): unknown {
  const extra = query.get("includeRecipientSetup") === "true" ? SETUP_FEE : 0;
  const { low, med, high } = FORWARD_FEE;
  const forwardFee = { low: low + extra, med: med + extra, high: high + extra };
  const forward = query.get("forward") === "true" ? { forwardFee } : {};
  const standard = { finalityThreshold: 2_000, minimumFee: 0, ...forward };
  if (INSTANT_DOMAINS.has(source)) return [standard];
  return [{ finalityThreshold: 1_000, minimumFee: FAST_FEE_BPS, ...forward }, standard];
}

function toResponse(answer: PollAnswer): Response {
  if ("body" in answer) return json(answer.status, answer.body);
  const headers = { "content-type": "application/json" };
  return new Response(answer.text, { status: answer.status, headers });
}

function json(status: number, body: unknown): Response {
  return Response.json(body, { status });
}

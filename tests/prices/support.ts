import { createRegistry } from "../../src/chains/index.ts";
import { ApiError, type ErrorCode } from "../../src/lib/errors.ts";
import type { Clock } from "../../src/lib/clock.ts";
import {
  createPricesService,
  type PricesDependencies,
  pricesRoutes,
  type PricesService,
} from "../../src/prices/index.ts";
import { silentLogger } from "../../src/telemetry/index.ts";
import { gated } from "../support/gated.ts";
import type { Feeds, Modes } from "./feeds.ts";

/** A clock that moves only when told. */
export class ManualClock implements Clock {
  #elapsedMs = 0;
  now = () => 1_790_000_000_000 + this.#elapsedMs;
  monotonic = () => 1_000 + this.#elapsedMs;
  sleep = () => Promise.reject(new Error("not used"));
  advance(ms: number): void {
    this.#elapsedMs += ms;
  }
}

/** Networks with Ethereum's upstreams, which the Chainlink feeds are on. */
const registry = createRegistry({
  useDefaultUpstreams: false,
  override: { 1: { upstreams: [{ url: "http://127.0.0.1:1" }] } },
});

interface Settings {
  readonly timeoutMs?: number;
  readonly refreshMs?: number;
  readonly dependencies?: Partial<PricesDependencies>;
}

/** A price service over scripted feeds; `modes` may change while it runs. */
export function pricesOver(
  feeds: Feeds,
  modes: Modes,
  clock: Clock,
  { dependencies, ...settings }: Settings = {},
): PricesService {
  const config = {
    baseUrls: feeds.baseUrls(modes),
    apiKeys: {},
    aggregators: {},
    refreshMs: 15_000,
    timeoutMs: 2_000,
    maxDeviationBps: 100,
    ...settings,
  };
  const pool = feeds.chains(modes);
  return createPricesService({ config, clock, log: silentLogger, registry, pool, ...dependencies });
}

/** Asks the endpoint once, behind the real gate. */
export async function askEndpoint(service: PricesService): Promise<Response> {
  const server = await gated(pricesRoutes(service));
  const response = await server.request("/api/public/prices");
  server.close();
  return response;
}

/** The code a service call fails with, or what it answered. */
export async function codeOf<Answer>(
  answer: Answer | Promise<Answer>,
): Promise<ErrorCode | Answer> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

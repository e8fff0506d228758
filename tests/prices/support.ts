import { ApiError, type ErrorCode } from "../../src/lib/errors.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { createPricesService, pricesRoutes, type PricesService } from "../../src/prices/index.ts";
import { silentLogger } from "../../src/telemetry/index.ts";
import { gated } from "../support/gated.ts";

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

/** A price service over scripted feeds. */
export function pricesOver(
  baseUrls: Record<string, string>,
  clock: Clock,
  settings: { timeoutMs?: number; refreshMs?: number } = {},
): PricesService {
  const config = {
    baseUrls,
    refreshMs: 15_000,
    timeoutMs: 2_000,
    maxDeviationBps: 100,
    ...settings,
  };
  return createPricesService({ config, clock, log: silentLogger });
}

/** Asks the endpoint once, behind the real gate. */
export async function askEndpoint(service: PricesService): Promise<Response> {
  const server = await gated(pricesRoutes(service));
  const response = await server.request("/api/public/prices");
  server.close();
  return response;
}

/** The code a service call fails with, or what it answered. */
export async function codeOf(answer: Promise<unknown>): Promise<ErrorCode | unknown> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

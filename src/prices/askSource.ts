import type { Clock } from "../lib/clock.ts";
import type { FeedRequest, PriceSource, Reading } from "./sources/source.ts";

const MAX_ANSWER_BYTES = 262_144;

/** An answer that is not a feed's 200. */
class RefusedError extends Error {
  override readonly name = "RefusedError";

  /** @param pauseMs - how long the source asked to be left alone; 0 when it did not say */
  constructor(
    status: number,
    readonly pauseMs: number,
  ) {
    super(`HTTP ${status}`);
  }
}

/** What asking a source takes. */
export interface AskOptions {
  readonly baseUrl: string;
  /** Deadline of each request. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** What a source gave. */
export interface SourceAnswer {
  readonly readings: readonly Reading[];
  /** Why requests failed, one text each. */
  readonly failures: readonly string[];
  /** Longest pause the source asked for, 0 when it asked for none. */
  readonly pauseMs: number;
}

/**
 * Sends all requests of a source at once and gathers their readings. One that fails costs only
 * its own assets. Never rejects.
 */
export async function askSource(source: PriceSource, options: AskOptions): Promise<SourceAnswer> {
  const answers = await Promise.allSettled(source.requests.map((request) => ask(request, options)));
  const readings: Reading[] = [];
  const failures: string[] = [];
  let pauseMs = 0;
  for (const answer of answers) {
    if (answer.status === "fulfilled") readings.push(...answer.value);
    else {
      const cause: unknown = answer.reason;
      failures.push(cause instanceof Error ? cause.message : String(cause));
      if (cause instanceof RefusedError) pauseMs = Math.max(pauseMs, cause.pauseMs);
    }
  }
  return { readings, failures, pauseMs };
}

async function ask(request: FeedRequest, options: AskOptions): Promise<Reading[]> {
  const response = await fetch(options.baseUrl.replace(/\/+$/, "") + request.path, {
    headers: { accept: "application/json", "user-agent": "causeway" },
    redirect: "error",
    signal: AbortSignal.timeout(options.timeoutMs),
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    const retryAfter = response.headers.get("retry-after");
    throw new RefusedError(response.status, readRetryAfter(retryAfter, options.clock.now()));
  }
  return request.parse(await readCapped(response), options.clock.now());
}

async function readCapped(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) throw new RangeError(`answer above ${MAX_ANSWER_BYTES} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** `Retry-After`, in seconds or as a date (RFC 9110 §10.2.3), as ms from now. */
function readRetryAfter(header: string | null, nowMs: number): number {
  if (header === null) return 0;
  const delayMs = /^[0-9]{1,9}$/.test(header.trim())
    ? Number(header) * 1_000
    : Date.parse(header) - nowMs;
  return Number.isFinite(delayMs) ? Math.max(0, delayMs) : 0;
}

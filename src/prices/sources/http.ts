import type { AskContext, Question, Reading } from "./source.ts";

const MAX_ANSWER_BYTES = 262_144;

/** An answer that is not a feed's 200. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";

  /** @param pauseMs - how long the source asked to be left alone; 0 when it did not say */
  constructor(
    status: number,
    readonly pauseMs: number,
  ) {
    super(`HTTP ${status}`);
  }
}

/** A GET and the pure parser of its answer. */
export interface HttpQuestion {
  readonly baseUrl: string;
  /** Path and query below the base URL. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * @param body - answer text of a 200
   * @param receivedAtMs - stamp for answers without a time of their own
   */
  readonly parse: (body: string, receivedAtMs: number) => Reading[];
}

/**
 * Asks by HTTP, with a deadline and a size limit; redirects are not followed.
 * @throws RefusedError for any other status than 200
 */
export function httpQuestion({ baseUrl, path, headers, parse }: HttpQuestion): Question {
  const url = baseUrl.replace(/\/+$/, "") + path;
  return async ({ timeoutMs, clock }: AskContext) => {
    const response = await fetch(url, {
      headers: { accept: "application/json", "user-agent": "causeway", ...headers },
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      const retryAfter = response.headers.get("retry-after");
      throw new RefusedError(response.status, readRetryAfter(retryAfter, clock.now()));
    }
    return parse(await readCapped(response), clock.now());
  };
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

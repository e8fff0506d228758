import { ApiError } from "../lib/errors.ts";
import { monthOf } from "./allowance.ts";
import type { Meter } from "./meter.ts";
import type { ApiKey } from "./keys.ts";
import type { WindowDecision } from "./window.ts";

const DAY_MS = 86_400_000;
/** A date, or a time in UTC, as ISO 8601 writes them. */
export const DATE =
  /^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,3})?)?Z)?$/;

/** A span of time, ms since the epoch; `to` is not part of it. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Reads the span of a usage query; what is left out falls to the current month (UTC).
 * @param query - `from` and `to` as ISO dates or UTC times; a date as `to` includes its whole day
 * @throws ApiError `INVALID_FIELD`
 */
export function usageSpan(query: URLSearchParams, now: number): Span {
  const month = monthOf(now);
  const from = parseTime(query, "from") ?? month.start;
  const to = parseTime(query, "to", DAY_MS) ?? month.end;
  if (from >= to) throw new ApiError("INVALID_FIELD", "Invalid field: from (must be before to)");
  return { from, to };
}

function parseTime(query: URLSearchParams, name: string, dateAddsMs = 0): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const time = DATE.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) {
    throw new ApiError("INVALID_FIELD", `Invalid field: ${name} (an ISO date, such as 2026-01-31)`);
  }
  return text.includes("T") ? time : time + dateAddsMs;
}

/** What a key used in a span, and what it has left now. */
export async function usageOf(meter: Meter, key: ApiKey, window: WindowDecision, span: Span) {
  const { requests, totalCu, ...rest } = await usageOfSpan(meter, key, span);
  const { limit, remaining } = window;
  const resetAt = new Date(window.resetAt).toISOString();
  return { requests, totalCu, window: { limit, remaining, resetAt }, ...rest };
}

/** What a key used in a span, and what it has left of this month's allowance. */
export async function usageOfSpan(meter: Meter, key: ApiKey, span: Span) {
  const sums = await meter.usage(key.id, span.from, span.to);
  return {
    requests: sums.reduce((total, { requests }) => total + requests, 0),
    totalCu: sums.reduce((total, { cu }) => total + cu, 0),
    allowance:
      key.cuAllowance === null
        ? null
        : {
            cu: key.cuAllowance,
            remaining: Math.max(0, key.cuAllowance - (await meter.monthCu(key.id))),
          },
    operations: sums.map(({ operation, chainId, requests, cu }) => ({
      operation,
      chainId: chainId === 0 ? null : chainId,
      requests,
      cu,
    })),
  };
}

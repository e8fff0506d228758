import { Elysia } from "elysia";
import { dataResponse } from "../lib/http.ts";
import type { Access } from "./access.ts";
import { admissionOf } from "./admission.ts";
import { describeOperation } from "./describe.ts";
import { UsageResult } from "./model.ts";
import { DATE, usageOf, usageSpan } from "./usage.ts";

/** GET /api/public/usage. */
export function accessRoutes(access: Access) {
  return new Elysia({ name: "access" }).get(
    "/api/public/usage",
    async ({ request }) => {
      const { key, window } = admissionOf(request);
      const span = usageSpan(new URL(request.url).searchParams, access.clock.now());
      return dataResponse(await usageOf(access.meter, key, window, span));
    },
    describeOperation("usage", {
      tag: "Usage",
      summary: "What this key used",
      description:
        "Requests and compute units charged to the key in the current calendar month (UTC), per " +
        "operation and chain, with what is left of its window and allowance. `from` and `to` " +
        "(ISO dates, whole hours in UTC) choose another span.",
      optional: {
        from: {
          in: "query",
          description: "ISO date or UTC time the span begins with",
          schema: { pattern: DATE.source },
        },
        to: {
          in: "query",
          description: "ISO date (included) or UTC time the span ends before",
          schema: { pattern: DATE.source },
        },
      },
      response: {
        schema: UsageResult,
        example: {
          success: true,
          data: {
            requests: 12,
            totalCu: 17,
            window: { limit: 600, remaining: 598, resetAt: "2026-01-31T12:00:30.000Z" },
            allowance: { cu: 1_000_000, remaining: 999_983 },
            operations: [
              { operation: "quote", chainId: 5042, requests: 5, cu: 10 },
              { operation: "rpc", chainId: 5042002, requests: 7, cu: 7 },
            ],
          },
        },
      },
      errors: ["INVALID_FIELD"],
    }),
  );
}

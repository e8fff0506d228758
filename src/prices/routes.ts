import { Elysia } from "elysia";
import { describeOperation, operations } from "../access/index.ts";
import { pricesSchema } from "./model.ts";
import type { PricesService } from "./service.ts";

/** GET /api/public/prices. */
export function pricesRoutes(service: PricesService) {
  return new Elysia({ name: "prices" }).get(
    operations.prices.path,
    async () => {
      const { body, headers } = await service.current();
      return new Response(body, { headers });
    },
    describeOperation("prices", {
      summary: "Spot prices of USDC, EURC and USDT in USD",
      description:
        "The median of several independent sources. A source that is stale, out of bounds or far " +
        "from the others is left out; where no majority agrees, the answer is 502.",
      tag: "Market data",
      response: {
        schema: pricesSchema(service.assets),
        example: { USDC: { usd: 0.9998 }, EURC: { usd: 1.1561 }, USDT: { usd: 1.0002 } },
      },
      headers: {
        "X-Price-Sources": "Ids of the sources behind the prices, comma-separated.",
        "X-Price-As-Of": "ISO time of the oldest reading behind the prices.",
      },
      errors: ["PRICE_FEED_UNREACHABLE"],
    }),
  );
}

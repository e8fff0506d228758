import { Elysia } from "elysia";
import { ApiError } from "../lib/errors.ts";
import { dataResponse, readJson } from "../lib/http.ts";
import { NewUpstreamSchema } from "./model.ts";
import type { UpstreamAdmin } from "./upstreams.ts";

const MAX_BODY_BYTES = 65_536;
const hidden = { detail: { hide: true } };

/** What the operator's view reads and changes. */
export interface ConsoleDependencies {
  readonly isAdminToken: (presented: string) => Promise<boolean>;
  readonly upstreams: UpstreamAdmin;
  /** Prices in memory and the health of their sources, as JSON. */
  readonly prices: () => object;
}

/** JSON routes of the operator's console, behind the admin token. */
export function consoleRoutes({ isAdminToken, upstreams, prices }: ConsoleDependencies) {
  const requireOperator = async (request: Request) => {
    const bearer = /^bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
    if (bearer === undefined || !(await isAdminToken(bearer))) {
      throw new ApiError("INVALID_ADMIN_TOKEN");
    }
  };
  return new Elysia({ name: "console", prefix: "/console/api" })
    .get(
      "/prices",
      async ({ request }) => {
        await requireOperator(request);
        return dataResponse(prices());
      },
      hidden,
    )
    .get(
      "/upstreams",
      async ({ request }) => {
        await requireOperator(request);
        return dataResponse(upstreams.list());
      },
      hidden,
    )
    .post(
      "/upstreams",
      async ({ request }) => {
        await requireOperator(request);
        const { chainId, ...upstream } = await readJson(request, NewUpstreamSchema, {
          maxBytes: MAX_BODY_BYTES,
          missing: (field) => `Missing required field: ${field}`,
        });
        return dataResponse(await upstreams.add(chainId, upstream));
      },
      hidden,
    )
    .post(
      "/upstreams/:id/drain",
      async ({ request, params }) => {
        await requireOperator(request);
        await upstreams.drain(params.id);
        return dataResponse({ id: params.id, draining: true });
      },
      hidden,
    )
    .delete(
      "/upstreams/:id",
      async ({ request, params }) => {
        await requireOperator(request);
        await upstreams.remove(params.id);
        return dataResponse({ id: params.id, removed: true });
      },
      hidden,
    );
}

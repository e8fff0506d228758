import { Elysia } from "elysia";
import { ApiError } from "../lib/errors.ts";
import { dataResponse } from "../lib/http.ts";
import type { UpstreamStatus } from "../upstream/index.ts";

/** What the operator's view reads. */
export interface ConsoleDependencies {
  readonly isAdminToken: (presented: string) => Promise<boolean>;
  /** Every upstream in use with its score and the score's parts. */
  readonly upstreams: () => readonly UpstreamStatus[];
}

/** JSON routes of the operator's console, behind the admin token. */
export function consoleRoutes({ isAdminToken, upstreams }: ConsoleDependencies) {
  const requireOperator = async (request: Request) => {
    const bearer = /^bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
    if (bearer === undefined || !(await isAdminToken(bearer))) {
      throw new ApiError("INVALID_ADMIN_TOKEN");
    }
  };
  return new Elysia({ name: "console" }).get(
    "/console/api/upstreams",
    async ({ request }) => {
      await requireOperator(request);
      return dataResponse(upstreams());
    },
    { detail: { hide: true } },
  );
}

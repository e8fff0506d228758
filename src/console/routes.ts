import { Elysia } from "elysia";
import { KeyError } from "../access/index.ts";
import { peerAddress } from "../lib/client.ts";
import { ApiError } from "../lib/errors.ts";
import { dataResponse } from "../lib/http.ts";
import type { DeveloperConsole } from "./console.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Guard } from "./guard.ts";
import { assetAnswer } from "./page/answer.ts";
import { type Assets, bundlePage } from "./page/bundle.ts";

const API_PREFIX = "/console/api";
const hidden = { detail: { hide: true }, parse: "none" as const };

/** The console's page at /console, and the JSON routes it works with at /console/api. */
export function consoleRoutes({ guard, endpoints }: DeveloperConsole) {
  const app = new Elysia({ name: "console" });
  for (const endpoint of endpoints) {
    app.route(
      endpoint.method,
      `${API_PREFIX}${endpoint.path}`,
      ({ request, params, server }) =>
        answer(guard, endpoint, request, params, peerAddress(server, request)),
      hidden,
    );
  }
  let assets: Promise<Assets> | undefined;
  const file = async (path: string, request: Request) => {
    assets ??= bundlePage().catch((error: unknown) => {
      assets = undefined;
      throw error;
    });
    const found = assetAnswer(await assets, path, request);
    if (!found) throw new ApiError("ROUTE_NOT_FOUND");
    return found;
  };
  return app
    .get("/console", ({ request }) => file("", request), hidden)
    .get(
      "/console/assets/:name",
      ({ request, params }) => file(`/assets/${params.name}`, request),
      hidden,
    );
}

async function answer(
  guard: Guard,
  endpoint: Endpoint,
  request: Request,
  params: Readonly<Record<string, string>>,
  peer: string | undefined,
): Promise<Response> {
  const call = await guard.admit(endpoint, request, params, peer);
  const data = await run(endpoint, call);
  const response = data instanceof Response ? data : dataResponse(data);
  response.headers.set("cache-control", "no-store");
  response.headers.set("x-content-type-options", "nosniff");
  return response;
}

async function run(
  endpoint: Endpoint,
  call: Awaited<ReturnType<Guard["admit"]>>,
): Promise<unknown> {
  try {
    if (endpoint.access === "anyone") return await endpoint.answer(call);
    const { identity } = call;
    if (!identity) throw new ApiError("SIGNED_OUT");
    return await endpoint.answer({ ...call, identity });
  } catch (error) {
    if (error instanceof KeyError) throw new ApiError("KEY_REFUSED", error.message);
    throw error;
  }
}

import type { ChainRegistry } from "../../chains/index.ts";
import { readConsoleBody } from "../body.ts";
import type { Endpoint } from "../endpoint.ts";
import { KeyChangesSchema, NewKeySchema, RotateSchema } from "../model.ts";
import type { ChainChoice } from "../views.ts";
import type { Insight } from "./insight.ts";
import type { ConsoleKeys } from "./keys.ts";

export interface DeveloperEndpointOptions {
  readonly keys: ConsoleKeys;
  readonly insight: Insight;
  readonly registry: ChainRegistry;
}

/** What everyone who is signed in may do: with their own keys, the operator with all. */
export function developerEndpoints(options: DeveloperEndpointOptions): readonly Endpoint[] {
  const { keys, insight, registry } = options;
  return [
    {
      method: "GET",
      path: "/overview",
      access: "signed-in",
      answer: ({ identity }) => insight.overview(identity),
    },
    {
      method: "GET",
      path: "/keys",
      access: "signed-in",
      answer: ({ identity }) => keys.list(identity),
    },
    {
      method: "POST",
      path: "/keys",
      access: "signed-in",
      answer: async (call) => keys.create(call.identity, await readConsoleBody(call, NewKeySchema)),
    },
    {
      method: "PATCH",
      path: "/keys/:id",
      access: "signed-in",
      async answer(call) {
        const changes = await readConsoleBody(call, KeyChangesSchema);
        return keys.update(call.identity, idOf(call.params), changes);
      },
    },
    {
      method: "POST",
      path: "/keys/:id/rotate",
      access: "signed-in",
      async answer(call) {
        const { graceMs } = await readConsoleBody(call, RotateSchema);
        return keys.rotate(call.identity, idOf(call.params), graceMs);
      },
    },
    {
      method: "POST",
      path: "/keys/:id/revoke",
      access: "signed-in",
      async answer({ identity, params }) {
        await keys.revoke(identity, idOf(params));
        return { id: idOf(params), revoked: true };
      },
    },
    {
      method: "GET",
      path: "/usage",
      access: "signed-in",
      answer: ({ identity, query }) => insight.usage(identity, query),
    },
    {
      method: "GET",
      path: "/errors",
      access: "signed-in",
      answer: ({ identity, query }) => insight.errors(identity, query),
    },
    {
      method: "GET",
      path: "/chains",
      access: "signed-in",
      answer: ({ query }): ChainChoice[] =>
        registry.all
          .filter(({ upstreams }) => upstreams.length > 0 || query.get("all") === "true")
          .map(({ id, name, tokens }) => ({
            chainId: id,
            name,
            tokens: tokens.map(({ symbol, decimals }) => ({ symbol, decimals })),
          })),
    },
  ];
}

function idOf(params: Readonly<Record<string, string>>): string {
  return params["id"] ?? "";
}

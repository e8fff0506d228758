import { type Static, Type } from "@sinclair/typebox";
import { UpstreamSchema } from "../config/index.ts";
import { rejectWith } from "../lib/http.ts";

/** Body of `POST /console/api/upstreams`: a chain and one entry of its `upstreams`. */
export const NewUpstreamSchema = Type.Object(
  {
    chainId: Type.Integer({
      minimum: 1,
      description: "a chain id of the registry",
      ...rejectWith("UNSUPPORTED_CHAIN"),
    }),
    ...UpstreamSchema.properties,
  },
  { additionalProperties: false },
);

export type NewUpstream = Static<typeof NewUpstreamSchema>;

import { type Static, Type } from "@sinclair/typebox";
import { NetworkSchema } from "./network.ts";

const Millis = Type.Integer({ minimum: 1, maximum: 86_400_000 });
const Bps = Type.Integer({ minimum: 0, maximum: 10_000 });

/**
 * The JSON config file named by `CAUSEWAY_CONFIG`. Every field is optional;
 * what is left out keeps the default of `config/index.ts`.
 */
export const ConfigFileSchema = Type.Object(
  {
    networks: Type.Optional(
      Type.Object(
        {
          /** false: built-in public node URLs are not used; only those given here. */
          useDefaultUpstreams: Type.Optional(Type.Boolean()),
          /** By chain id: members that replace those of the built-in network. */
          override: Type.Optional(
            Type.Record(
              Type.String({ pattern: "^[0-9]+$" }),
              Type.Partial(NetworkSchema, { additionalProperties: false }),
            ),
          ),
        },
        { additionalProperties: false },
      ),
    ),
    access: Type.Optional(
      Type.Object(
        { defaultWindowLimit: Type.Optional(Type.Integer({ minimum: 1 })) },
        { additionalProperties: false },
      ),
    ),
    swap: Type.Optional(
      Type.Object(
        {
          platformFeeBps: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
          deadlineSeconds: Type.Optional(Type.Integer({ minimum: 30, maximum: 86_400 })),
        },
        { additionalProperties: false },
      ),
    ),
    prices: Type.Optional(
      Type.Object(
        {
          /** By source id (`coingecko`, `coinbase`, `kraken`): base URL in place of the public one. */
          baseUrls: Type.Optional(
            Type.Record(Type.String(), Type.String({ pattern: "^https?://" })),
          ),
          refreshMs: Type.Optional(Millis),
          timeoutMs: Type.Optional(Millis),
          maxDeviationBps: Type.Optional(Bps),
        },
        { additionalProperties: false },
      ),
    ),
    balance: Type.Optional(
      Type.Object(
        {
          /** Origins (scheme://host:port) a caller's `rpcUrl` may have although they are private. */
          allowedOrigins: Type.Optional(Type.Array(Type.String({ pattern: "^https?://" }))),
          /** `rpcUrl` of the API documents' example, a node of Arc's testnet. */
          exampleRpcUrl: Type.Optional(Type.String({ pattern: "^https?://" })),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);

export type ConfigFile = Static<typeof ConfigFileSchema>;

import { type Static, Type } from "@sinclair/typebox";
import { BridgeFileSchema } from "./bridge.ts";
import { ConsoleFileSchema } from "./console.ts";
import { NetworkSchema } from "./network.ts";

const Millis = Type.Integer({ minimum: 1, maximum: 86_400_000 });
const MethodPattern = Type.String({ pattern: "^[A-Za-z0-9_]+\\*?$" });
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
    upstream: Type.Optional(
      Type.Object(
        {
          cacheMaxBytes: Type.Optional(Type.Integer({ minimum: 0 })),
          maxBufferedBytes: Type.Optional(Type.Integer({ minimum: 67_108_864 })),
        },
        { additionalProperties: false },
      ),
    ),
    rpc: Type.Optional(
      Type.Object(
        {
          /** Methods refused beside those refused by default; `debug_*` means the namespace. */
          refusedMethods: Type.Optional(Type.Array(MethodPattern)),
          /** Methods served although they are refused by default, or by a pattern. */
          allowedMethods: Type.Optional(Type.Array(MethodPattern)),
        },
        { additionalProperties: false },
      ),
    ),
    swap: Type.Optional(
      Type.Object(
        {
          platformFeeBps: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
          deadlineSeconds: Type.Optional(Type.Integer({ minimum: 30, maximum: 86_400 })),
          /** Part of all quotes that is compared with the chain afterwards, 0 to 1. */
          auditShare: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
          /** Oldest state a quote is computed from; three blocks where that is longer. */
          maxStateAgeMs: Type.Optional(Millis),
        },
        { additionalProperties: false },
      ),
    ),
    prices: Type.Optional(
      Type.Object(
        {
          /** By source id, such as `coingecko`: base URL in place of the public one. */
          baseUrls: Type.Optional(
            Type.Record(Type.String(), Type.String({ pattern: "^https?://" })),
          ),
          /** By source id: keys of `coingecko` (paid plan) and `pyth`, which needs one. */
          apiKeys: Type.Optional(Type.Record(Type.String(), Type.String({ minLength: 1 }))),
          /** By symbol: Chainlink feeds in place of the known ones. */
          aggregators: Type.Optional(
            Type.Record(
              Type.String(),
              Type.Object(
                {
                  chainId: Type.Integer({ minimum: 1 }),
                  address: Type.String({ pattern: "^0x[0-9a-fA-F]{40}$" }),
                  heartbeatSeconds: Type.Integer({ minimum: 1 }),
                  decimals: Type.Integer({ minimum: 0, maximum: 18 }),
                },
                { additionalProperties: false },
              ),
            ),
          ),
          refreshMs: Type.Optional(Millis),
          timeoutMs: Type.Optional(Millis),
          maxDeviationBps: Type.Optional(Bps),
        },
        { additionalProperties: false },
      ),
    ),
    bridge: Type.Optional(BridgeFileSchema),
    console: Type.Optional(ConsoleFileSchema),
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

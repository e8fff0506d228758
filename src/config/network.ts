import { type Static, Type } from "@sinclair/typebox";

const Url = Type.String({ pattern: "^https?://", description: "an http(s) URL" });
const EvmAddress = Type.String({
  pattern: "^0x[0-9a-fA-F]{40}$",
  description: "a 0x address of 20 bytes",
});
const Hash = Type.String({ pattern: "^0x[0-9a-fA-F]{64}$", description: "a 0x hash of 32 bytes" });
const Count = Type.Integer({ minimum: 1 });

/** One node URL the pool may send calls to. */
export const UpstreamSchema = Type.Object(
  {
    url: Url,
    /** Upstreams of one vendor account share its rate limit. */
    account: Type.Optional(Type.String()),
    maxConcurrent: Type.Optional(Count),
    requestsPerSecond: Type.Optional(Count),
    /** Calls of a moment are sent to this node as one JSON-RPC array. */
    batch: Type.Optional(
      Type.Object(
        {
          maxItems: Type.Integer({ minimum: 2, maximum: 1_000 }),
          /** How long a call waits for company, ms; 0, the default: until the turn's end. */
          maxWaitMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 50 })),
          /** What the vendor's rate counts; items when left out. */
          countAs: Type.Optional(Type.Union([Type.Literal("items"), Type.Literal("requests")])),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);

/** An ERC-20 or SPL token the service knows by symbol. */
export const TokenSchema = Type.Object(
  {
    symbol: Type.String({ minLength: 1, maxLength: 16 }),
    name: Type.String(),
    /** 0x address on EVM networks, base58 mint on Solana. */
    address: Type.String({ minLength: 32, maxLength: 44 }),
    decimals: Type.Integer({ minimum: 0, maximum: 36 }),
  },
  { additionalProperties: false },
);

/** A DEX deployment whose pools are quoted and swapped through. */
export const VenueSchema = Type.Object(
  {
    id: Type.String({ pattern: "^[a-z0-9-]{1,32}$" }),
    name: Type.String(),
    type: Type.Union([Type.Literal("v2"), Type.Literal("v3")]),
    factory: EvmAddress,
    router: EvmAddress,
    /** QuoterV2 for v3; for v2 the router, whose `getAmountsOut` quotes. */
    quoter: EvmAddress,
    /** Hash of the pools' creation code, from which pool addresses are derived. */
    initCodeHash: Hash,
    /** v2: the pair's fee in bps; Uniswap's is 30. */
    feeBps: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000 })),
    /** v3: fee tiers to look for, in pips (1e-6). */
    feeTiers: Type.Optional(Type.Array(Type.Integer({ minimum: 1, maximum: 999_999 }))),
    /**
     * How its pools are priced: in memory by their exact curve, the default, or by the quoter on
     * chain, for pools that swap like v2 or v3 pools but on a curve of their own.
     */
    pricing: Type.Optional(Type.Union([Type.Literal("memory"), Type.Literal("quoter")])),
    enabled: Type.Boolean(),
  },
  { additionalProperties: false },
);

/** Circle's CCTP V2 on one network. */
export const CctpSchema = Type.Object(
  {
    domain: Type.Integer({ minimum: 0 }),
    tokenMessenger: Type.String(),
    messageTransmitter: Type.String(),
    /** Solana: the address lookup table without which a mint does not fit a transaction. */
    lookupTable: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);

/** One network of the registry: the shape of the built-in data files and of config overrides. */
export const NetworkSchema = Type.Object(
  {
    kind: Type.Union([Type.Literal("evm"), Type.Literal("solana")]),
    /** EVM chain id, or the integer by which Solana clusters are addressed. */
    id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    /** Name in Circle's tooling, such as `Arc_Testnet`. */
    name: Type.String(),
    aliases: Type.Array(Type.String()),
    environment: Type.Union([Type.Literal("mainnet"), Type.Literal("testnet")]),
    /** Expected time between blocks, ms. */
    blockTimeMs: Type.Integer({ minimum: 100 }),
    /** When a block can no longer change; 64 blocks on top of it when left out. */
    finality: Type.Optional(
      Type.Object(
        {
          /** Blocks on top of one that is final. */
          depth: Type.Optional(Type.Integer({ minimum: 0 })),
          /** Nodes know the tag `finalized`, which then decides. */
          hasTag: Type.Optional(Type.Boolean()),
        },
        { additionalProperties: false },
      ),
    ),
    native: Type.Object({
      symbol: Type.String(),
      decimals: Type.Integer({ minimum: 0, maximum: 36 }),
    }),
    upstreams: Type.Array(UpstreamSchema),
    tokens: Type.Array(TokenSchema),
    /** Symbols of the tokens that multi-hop routes may pass through. */
    connectors: Type.Array(Type.String()),
    venues: Type.Array(VenueSchema),
    multicall3: Type.Optional(EvmAddress),
    /** ERC-20 that wraps the native asset, where there is one. */
    wrappedNative: Type.Optional(EvmAddress),
    /** Our swap executor, where it is deployed. */
    executor: Type.Optional(EvmAddress),
    cctp: Type.Optional(CctpSchema),
  },
  { additionalProperties: false },
);

export type NetworkData = Static<typeof NetworkSchema>;
export type UpstreamData = Static<typeof UpstreamSchema>;
export type TokenData = Static<typeof TokenSchema>;
export type VenueData = Static<typeof VenueSchema>;
export type CctpData = Static<typeof CctpSchema>;

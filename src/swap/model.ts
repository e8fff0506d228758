import { type Static, Type } from "@sinclair/typebox";
import { NATIVE } from "./native.ts";

const AtomicAmount = (description: string) => Type.String({ minLength: 1, description });
const TokenText = (description: string) =>
  Type.String({ minLength: 1, maxLength: 64, description });

/** Body of POST /api/public/swap/quote. */
export const QuoteRequestSchema = Type.Object({
  inputToken: TokenText("token symbol or contract address, a string"),
  outputToken: TokenText("token symbol or contract address, a string"),
  inputAmount: AtomicAmount("integer in base atomic units, a string of digits"),
  slippageTolerance: Type.Optional(
    Type.Number({
      minimum: 0,
      description: "basis points, a number from 0 to 5000",
    }),
  ),
  dexId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 32, description: "id of a venue, a string" }),
  ),
  chainId: Type.Optional(Type.Number({ description: "EVM chain id, a number" })),
});
export type QuoteRequest = Static<typeof QuoteRequestSchema>;

/**
 * One pool of a route. Hops stand in the order of execution: a token is sold once everything that
 * buys it is done. The last four fields say which pool it is, so that build-tx can prove it.
 */
export const HopSchema = Type.Object({
  dexId: Type.String(),
  amountIn: Type.String({ description: "atomic units of tokenIn" }),
  amountOut: Type.String({ description: "atomic units of tokenOut, before the platform fee" }),
  priceImpact: Type.Number({ description: "percent, without fees" }),
  pool: Type.String({ description: "address of the pool" }),
  fee: Type.Integer({ description: "the pool's fee in pips (1e-6)" }),
  tokenIn: Type.String({ description: "address of the token sold" }),
  tokenOut: Type.String({ description: "address of the token bought" }),
});
export type Hop = Static<typeof HopSchema>;

export const RouteTypeSchema = Type.Union(
  [Type.Literal("single"), Type.Literal("multi"), Type.Literal("split")],
  { description: "single, multi or split" },
);

/** A route that lost, and why. */
export const RouteOptionSchema = Type.Object({
  type: RouteTypeSchema,
  dexId: Type.String(),
  dexName: Type.String(),
  outputAmount: Type.String(),
  minOut: Type.String(),
  priceImpact: Type.Number(),
  gasEstimate: Type.String(),
  feeBps: Type.Number(),
  hops: Type.Array(HopSchema),
  reason: Type.String({ description: "why another route was preferred" }),
});
export type RouteOption = Static<typeof RouteOptionSchema>;

const NAMED_TOKEN = `contract address, or ${NATIVE} for the native asset`;

/** `data` of the quote answer. */
export const QuoteSchema = Type.Object({
  inputToken: Type.String({ description: NAMED_TOKEN }),
  outputToken: Type.String({ description: NAMED_TOKEN }),
  inputAmount: Type.String({ description: "atomic units" }),
  outputAmount: Type.String({ description: "what the user receives, atomic units" }),
  minOut: Type.String({ description: "guaranteed floor after slippage, atomic units" }),
  priceImpact: Type.Number({
    description: "the curve's part of the loss in percent, without fees",
  }),
  gasEstimate: Type.String({ description: "gas units of the whole transaction" }),
  feeBps: Type.Number({ description: "liquidity-provider and platform fee together" }),
  platformFeeAmount: Type.String({ description: "atomic units of the output token" }),
  dexId: Type.String(),
  dexName: Type.String(),
  route: Type.Object({ type: RouteTypeSchema, hops: Type.Array(HopSchema) }),
  routeOptions: Type.Array(RouteOptionSchema, { maxItems: 5 }),
  chainId: Type.Integer(),
  blockNumber: Type.Integer({ description: "block whose state the quote is exact for" }),
});
export type Quote = Static<typeof QuoteSchema>;

/**
 * What build-tx reads of a hop; all of it is proved, none of it believed. Hops that name no pool,
 * as the contract's own hop object, are routed again at their venue.
 */
const QuotedHopSchema = Type.Object(
  {
    dexId: Type.String({ description: "id of a venue, a string" }),
    amountIn: Type.Optional(Type.String({ description: "integer in base atomic units, a string" })),
    amountOut: Type.Optional(
      Type.String({ description: "integer in base atomic units, a string" }),
    ),
    pool: Type.Optional(Type.String({ description: "address of the pool" })),
    fee: Type.Optional(Type.Number({ description: "the pool's fee in pips, a number" })),
    tokenIn: Type.Optional(Type.String({ description: "address of the token sold" })),
    tokenOut: Type.Optional(Type.String({ description: "address of the token bought" })),
  },
  { description: "a hop as the quote gave it" },
);
export type QuotedHop = Static<typeof QuotedHopSchema>;

/** What build-tx reads of a quote. Without `route` the order is routed again at the venue. */
const QuotedSchema = Type.Object(
  {
    inputToken: TokenText("token symbol or contract address, a string"),
    outputToken: TokenText("token symbol or contract address, a string"),
    inputAmount: AtomicAmount("integer in base atomic units, a string of digits"),
    outputAmount: AtomicAmount("integer in base atomic units, a string of digits"),
    dexId: Type.String({ minLength: 1, maxLength: 32, description: "id of a venue, a string" }),
    minOut: Type.Optional(AtomicAmount("integer in base atomic units, a string of digits")),
    chainId: Type.Optional(Type.Number({ description: "EVM chain id, a number" })),
    route: Type.Optional(
      Type.Object(
        {
          type: Type.Optional(RouteTypeSchema),
          hops: Type.Array(QuotedHopSchema, { description: "hops as the quote gave them" }),
        },
        { description: "the route object of the quote" },
      ),
    ),
  },
  { description: "the quote object of POST /api/public/swap/quote" },
);
export type Quoted = Static<typeof QuotedSchema>;

/** Body of POST /api/public/swap/build-tx. `userAddress` is the first to be reported missing. */
export const BuildTxRequestSchema = Type.Object({
  userAddress: Type.String({ description: "0x address of the wallet that signs the swap" }),
  quote: QuotedSchema,
});
export type BuildTxRequest = Static<typeof BuildTxRequestSchema>;

/** An unsigned ERC-20 `approve` transaction. */
export const ApprovalSchema = Type.Object({
  to: Type.String({ description: "token contract" }),
  data: Type.String({ description: "approve(spender, amount) calldata" }),
  from: Type.String(),
  gasLimit: Type.String(),
});
export type Approval = Static<typeof ApprovalSchema>;

/** `data` of the build-tx answer: send `resetApproval` if present, `approval` if not null, `swap`. */
export const BuiltTxSchema = Type.Object({
  approval: Type.Union([ApprovalSchema, Type.Null()]),
  resetApproval: Type.Optional(ApprovalSchema),
  swap: Type.Object({
    to: Type.String({ description: "swap executor" }),
    data: Type.String(),
    value: Type.String({ description: "native value in wei" }),
    from: Type.String(),
    gasLimit: Type.String(),
    chainId: Type.Integer(),
  }),
});
export type BuiltTx = Static<typeof BuiltTxSchema>;

/** One DEX deployment of the catalog. */
export const DexSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  routerAddress: Type.String(),
  factoryAddress: Type.String(),
  quoterAddress: Type.String(),
  type: Type.Union([Type.Literal("v2"), Type.Literal("v3")]),
  chainId: Type.Integer(),
  enabled: Type.Boolean(),
  supportedTokens: Type.Array(Type.String()),
});
export type Dex = Static<typeof DexSchema>;

/** The success envelope around `data`. */
export const successSchema = <Data extends Parameters<typeof Type.Array>[0]>(data: Data) =>
  Type.Object({ success: Type.Literal(true), data });

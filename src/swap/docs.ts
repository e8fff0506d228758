import type { OperationDoc } from "../access/index.ts";
import {
  BuildTxRequestSchema,
  BuiltTxSchema,
  DexSchema,
  QuoteRequestSchema,
  QuoteSchema,
  successSchema,
} from "./model.ts";
import { NATIVE } from "./native.ts";
import { Type } from "@sinclair/typebox";

const USDC = "0x3600000000000000000000000000000000000000";
const EURC = "0xbEf5f6d51CB62b58e6A8f77868681825C6fe21c1";
const POOL = "0x8c1EfE53BF4B4eDB1ffBb4a06B7B29c0c4B7dC30";
const WALLET = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

const quoteExample = {
  inputToken: USDC,
  outputToken: EURC,
  inputAmount: "1000000",
  outputAmount: "861637928335945800",
  minOut: "857329738694266071",
  priceImpact: 0.0000332,
  gasEstimate: "123980",
  feeBps: 5,
  platformFeeAmount: "0",
  dexId: "venue-a",
  dexName: "Uniswap v3",
  route: {
    type: "single",
    hops: [
      {
        dexId: "venue-a",
        amountIn: "1000000",
        amountOut: "861637928335945800",
        priceImpact: 0.0000332,
        pool: POOL,
        fee: 500,
        tokenIn: USDC,
        tokenOut: EURC,
      },
    ],
  },
  routeOptions: [],
  chainId: 5042,
  blockNumber: 1_204_511,
};

/** What the API documents say about POST /swap/quote. */
export const quoteDoc: OperationDoc = {
  summary: "Best route for a token pair and an input amount",
  description:
    "Prices every pool of every enabled venue at one block and returns the best route: through one " +
    "pool, several in a row, or several that share a token. Every pool stands once in `route.hops`, in " +
    "the order of execution: a token is sold once everything that buys it is done. " +
    "The native asset is named by its symbol or as " +
    `\`${NATIVE}\`, on networks that have a wrapped one. ` +
    "`outputAmount` is what the wallet receives; `priceImpact` is the curve's part of the loss and " +
    "`feeBps` the fees' part, so that (1 − impact)(1 − fee) gives the spot price back.",
  tag: "Swap",
  request: {
    schema: QuoteRequestSchema,
    example: {
      inputToken: "USDC",
      outputToken: "EURC",
      inputAmount: "1000000",
      slippageTolerance: 50,
    },
  },
  response: {
    schema: successSchema(QuoteSchema),
    example: { success: true, data: quoteExample },
  },
  errors: [
    "MISSING_FIELD",
    "INVALID_FIELD",
    "UNSUPPORTED_CHAIN",
    "UNKNOWN_TOKEN",
    "UNKNOWN_VENUE",
    "NO_ROUTE",
    "UPSTREAM_UNREACHABLE",
  ],
};

/** What the API documents say about POST /swap/build-tx. */
export const buildTxDoc: OperationDoc = {
  summary: "Unsigned approval and swap transactions for a quote",
  description:
    "Checks the quote, prices it again, simulates the result, and returns what the wallet signs: " +
    "`approval` unless the allowance suffices, then `swap`. For tokens that refuse to change a " +
    "standing allowance, `resetApproval` comes first. The native asset needs no approval: it is sent " +
    "as `value`.",
  tag: "Swap",
  request: {
    schema: BuildTxRequestSchema,
    example: {
      userAddress: WALLET,
      quote: {
        inputToken: "USDC",
        outputToken: "EURC",
        inputAmount: "1000000",
        outputAmount: "850000000000000000",
        dexId: "venue-a",
      },
    },
  },
  response: {
    schema: successSchema(BuiltTxSchema),
    example: {
      success: true,
      data: {
        approval: {
          to: USDC,
          data: "0x095ea7b3…",
          from: WALLET,
          gasLimit: "58000",
        },
        swap: {
          to: "0x5bA1e12693Dc8F9c48aAD8770482f4739bEeD696",
          data: "0x5c11d795…",
          value: "0",
          from: WALLET,
          gasLimit: "190000",
          chainId: 5042,
        },
      },
    },
  },
  errors: [
    "MISSING_FIELD",
    "INVALID_FIELD",
    "UNSUPPORTED_CHAIN",
    "UNKNOWN_TOKEN",
    "UNKNOWN_VENUE",
    "INVALID_QUOTE",
    "QUOTE_EXPIRED",
    "EXECUTOR_NOT_DEPLOYED",
    "SIMULATION_FAILED",
    "SIMULATION_UNAVAILABLE",
    "UPSTREAM_UNREACHABLE",
  ],
};

/** What the API documents say about GET /swap/dexes. */
export const dexesDoc: OperationDoc = {
  summary: "Catalog of DEX venues",
  tag: "Swap",
  response: {
    schema: successSchema(Type.Array(DexSchema)),
    example: {
      success: true,
      data: [
        {
          id: "venue-a",
          name: "Uniswap v3",
          routerAddress: "0x53Bf6B0684Ec7eF91e1387Da3D1a1769bC5A6F77",
          factoryAddress: "0xf0DB7b58379503491d857dB50AC9ECe64C653918",
          quoterAddress: "0x7DfD4F31be6814D2906bde155C3e1B146EAC1468",
          type: "v3",
          chainId: 5042,
          enabled: true,
          supportedTokens: [USDC, EURC],
        },
      ],
    },
  },
  errors: [],
};

import { type Static, Type } from "@sinclair/typebox";

/** Body of POST /api/public/wallet/balance; required fields in the order they are reported. */
export const BalanceRequestSchema = Type.Object({
  address: Type.String({
    maxLength: 64,
    description: "0x address on EVM networks, base58 address on Solana",
  }),
  chainId: Type.String({
    maxLength: 64,
    description: "network name such as Arc_Testnet, or its numeric id as a string",
  }),
  rpcUrl: Type.String({
    maxLength: 2_048,
    description: "http(s) URL of a node of that network, at most 2,048 characters",
  }),
  tokenAddress: Type.Optional(
    Type.Union([Type.String({ maxLength: 64 }), Type.Null()], {
      description: "token contract or mint; the network's USDC when left out; ignored for native",
    }),
  ),
  balanceType: Type.Optional(
    Type.Union([Type.Literal("token"), Type.Literal("native")], {
      description: "token or native",
    }),
  ),
});
export type BalanceRequest = Static<typeof BalanceRequestSchema>;

/** The contract's answer, without a success wrapper. */
export const BalanceResultSchema = Type.Object({
  balance: Type.String({
    description: "Human-readable amount with all fractional digits of the asset.",
  }),
});
export type BalanceResult = Static<typeof BalanceResultSchema>;

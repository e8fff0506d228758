import { type Static, Type } from "@sinclair/typebox";
import { rejectWith } from "../lib/http.ts";

const chainId = (which: string) =>
  Type.Integer({ minimum: 1, description: `integer chain ID of the ${which} network` });

export const BridgeRequest = Type.Object({
  token: Type.Literal("USDC", {
    description: "must be USDC",
    ...rejectWith("UNSUPPORTED_BRIDGE_TOKEN"),
  }),
  fromChainId: chainId("source"),
  toChainId: chainId("destination"),
  amount: Type.String({ description: "decimal string with at most 6 fractional digits" }),
  recipientAddress: Type.String({ description: "wallet address on the destination network" }),
  senderAddress: Type.Optional(
    Type.String({ description: "wallet address on the source network" }),
  ),
  useForwarder: Type.Optional(
    Type.Boolean({
      default: true,
      description: "boolean; whether the protocol's forwarder pays the destination gas",
    }),
  ),
});
export type BridgeRequest = Static<typeof BridgeRequest>;

export const BridgeResult = Type.Object({
  success: Type.Boolean(),
  transactionHash: Type.String({ description: "hash of the burn transaction" }),
  status: Type.String({ description: "`pending` on creation" }),
  estimatedTime: Type.String({ description: "range in minutes" }),
});
export type BridgeResult = Static<typeof BridgeResult>;

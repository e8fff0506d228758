import { type Static, Type } from "@sinclair/typebox";
import { rejectWith } from "../lib/http.ts";

const chainId = (which: string) =>
  Type.Integer({ minimum: 1, description: `integer chain ID of the ${which} network` });

const Seconds = Type.Integer({
  minimum: 0,
  maximum: 4_294_967_295,
  description: "unix time in seconds",
});

export const SenderAuthorization = Type.Object(
  {
    validAfter: Seconds,
    validBefore: Seconds,
    salt: Type.String({ pattern: "^0x[0-9a-fA-F]{64}$", description: "0x and 64 hex digits" }),
    signature: Type.String({
      pattern: "^0x(?:[0-9a-fA-F]{2}){65,2048}$",
      description:
        "0x and hex digits: 65 bytes of a key, or what a contract wallet takes (ERC-1271)",
    }),
  },
  {
    description:
      "EIP-3009 `ReceiveWithAuthorization` signed by `senderAddress`, payee the operator's wallet, " +
      "value the amount, and as nonce keccak256 of the ABI encoding of (string " +
      '"causeway-bridge-v1", uint256 fromChainId, uint256 toChainId, uint256 atomic amount, ' +
      "bytes32 recipient, bool useForwarder, bytes32 salt). With it the funds come from the sender.",
  },
);
export type SenderAuthorization = Static<typeof SenderAuthorization>;

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
  authorization: Type.Optional(SenderAuthorization),
});
export type BridgeRequest = Static<typeof BridgeRequest>;

export const BridgeResult = Type.Object({
  success: Type.Boolean(),
  transactionHash: Type.String({ description: "hash of the burn transaction" }),
  status: Type.String({ description: "`pending` on creation" }),
  estimatedTime: Type.String({ description: "range in minutes" }),
});
export type BridgeResult = Static<typeof BridgeResult>;

const nullable = (description: string) =>
  Type.Union([Type.String({ description }), Type.Null()], { description });

/** What `GET /api/public/bridge/{transactionHash}` says of a transfer. */
export const BridgeStatus = Type.Object({
  transactionHash: Type.String({ description: "hash of the burn transaction" }),
  status: Type.Union(
    ["pending", "attested", "completed", "failed"].map((status) => Type.Literal(status)),
    { description: "`failed` only ever before a burn" },
  ),
  fromChainId: Type.Integer(),
  toChainId: Type.Integer(),
  amount: Type.String({ description: "what the recipient is minted, in USDC" }),
  fee: nullable("executed fee in USDC, burned on top of the amount; before that its bound"),
  recipientAddress: Type.String(),
  senderAddress: nullable("as given in the request"),
  useForwarder: Type.Boolean({ description: "whether the forwarder was paid to mint" }),
  destinationTransactionHash: nullable("transaction that minted"),
  message: nullable("attested message; with the attestation anyone can mint it"),
  attestation: nullable("signatures over the message"),
  delayReason: nullable("why it takes longer than usual"),
  estimatedTime: Type.String({ description: "range in minutes" }),
  createdAt: Type.String({ description: "ISO time" }),
  updatedAt: Type.String({ description: "ISO time" }),
});
export type BridgeStatus = Static<typeof BridgeStatus>;

export const BridgeStatusAnswer = Type.Object({
  success: Type.Boolean(),
  data: BridgeStatus,
});

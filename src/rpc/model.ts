import { Type } from "@sinclair/typebox";

/** A JSON-RPC 2.0 request, as documented; the bytes themselves are read by `request.ts`. */
const RpcRequestSchema = Type.Object({
  jsonrpc: Type.Literal("2.0", { description: "must be `2.0`" }),
  method: Type.String({ description: "RPC method, such as `eth_call`" }),
  params: Type.Array(Type.Unknown(), { description: "parameters of the method" }),
  id: Type.Integer({ description: "client identifier, echoed in the answer; may be a string" }),
});

/** A JSON-RPC 2.0 error response to a request that could not be read or served as one. */
export const RpcErrorSchema = Type.Object({
  jsonrpc: Type.Literal("2.0"),
  id: Type.Union([Type.Integer(), Type.String(), Type.Null()]),
  error: Type.Object({ code: Type.Integer(), message: Type.String() }),
});

/** A JSON-RPC 2.0 response: the node's own, with the caller's id. */
const RpcResponseSchema = Type.Object({
  jsonrpc: Type.Literal("2.0"),
  id: Type.Union([Type.Integer(), Type.String(), Type.Null()], {
    description: "as sent; null for a member of a batch whose id could not be read",
  }),
  result: Type.Optional(Type.Unknown({ description: "result of the method" })),
  error: Type.Optional(
    Type.Object({
      code: Type.Integer(),
      message: Type.String(),
      data: Type.Optional(Type.Unknown()),
    }),
  ),
});

/** What a body holds: one request, or a batch. */
export const RpcBodySchema = Type.Union([
  RpcRequestSchema,
  Type.Array(RpcRequestSchema, { minItems: 1, maxItems: 100 }),
]);

/** What answers it: one response, or one per member of the batch in the same order. */
export const RpcAnswerSchema = Type.Union([RpcResponseSchema, Type.Array(RpcResponseSchema)]);

import { Type } from "@sinclair/typebox";

const Count = Type.Integer({ minimum: 0 });

/** Body of GET /api/public/usage. */
export const UsageResult = Type.Object({
  success: Type.Boolean(),
  data: Type.Object({
    requests: Count,
    totalCu: Count,
    window: Type.Object({
      limit: Count,
      remaining: Count,
      resetAt: Type.String({ format: "date-time" }),
    }),
    allowance: Type.Union([Type.Object({ cu: Count, remaining: Count }), Type.Null()]),
    operations: Type.Array(
      Type.Object({
        operation: Type.String(),
        chainId: Type.Union([Type.Integer(), Type.Null()]),
        requests: Count,
        cu: Count,
      }),
    ),
  }),
});

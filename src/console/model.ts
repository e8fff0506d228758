import { type Static, Type } from "@sinclair/typebox";
import { MAX_GRACE_MS } from "../access/index.ts";
import { UpstreamSchema } from "../config/index.ts";
import { rejectWith } from "../lib/http.ts";

const strict = { additionalProperties: false };
const Time = Type.Union([Type.Integer(), Type.Null()], { description: "ms since the epoch" });
const Bound = Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
  description: "a whole number above 0, or null",
});
const Scopes = Type.Array(Type.String({ maxLength: 20 }), { maxItems: 10 });
const Addresses = Type.Array(Type.String({ maxLength: 64 }), {
  maxItems: 100,
  description: "IP addresses and CIDR blocks",
});

/** Body of `POST /console/api/upstreams`: a chain and one entry of its `upstreams`. */
export const NewUpstreamSchema = Type.Object(
  {
    chainId: Type.Integer({
      minimum: 1,
      description: "a chain id of the registry",
      ...rejectWith("UNSUPPORTED_CHAIN"),
    }),
    ...UpstreamSchema.properties,
  },
  strict,
);
export type NewUpstream = Static<typeof NewUpstreamSchema>;

/** Body of `POST /console/api/sign-in/challenge`. */
export const ChallengeSchema = Type.Object({
  address: Type.String({ pattern: "^0x[0-9a-fA-F]{40}$", description: "an EVM address" }),
  chainId: Type.Integer({ minimum: 1, description: "the chain the wallet is on" }),
});

/** Body of `POST /console/api/sign-in/wallet`. */
export const WalletSignInSchema = Type.Object({
  nonce: Type.String({ maxLength: 128 }),
  signature: Type.String({ maxLength: 32_768 }),
  invitation: Type.Optional(Type.String({ maxLength: 128 })),
});

/** Body of `POST /console/api/sign-in/operator`. */
export const OperatorSignInSchema = Type.Object({ token: Type.String({ maxLength: 512 }) });

/** Body of `POST /console/api/keys`. */
export const NewKeySchema = Type.Object({
  environment: Type.Union([Type.Literal("test"), Type.Literal("live")], {
    description: "`test` or `live`",
  }),
  scopes: Scopes,
  name: Type.Optional(Type.String({ maxLength: 200 })),
  windowLimit: Type.Optional(Bound),
  cuAllowance: Type.Optional(Bound),
  expiresAt: Type.Optional(Time),
  ipAllowList: Type.Optional(Addresses),
});
export type NewKeyBody = Static<typeof NewKeySchema>;

/** Body of `PATCH /console/api/keys/:id`; a developer changes name and addresses only. */
export const KeyChangesSchema = Type.Object(
  {
    name: Type.Optional(Type.String({ maxLength: 200 })),
    ipAllowList: Type.Optional(Addresses),
    windowLimit: Type.Optional(Bound),
    cuAllowance: Type.Optional(Bound),
    expiresAt: Type.Optional(Time),
  },
  strict,
);
export type KeyChangesBody = Static<typeof KeyChangesSchema>;

/** Body of `POST /console/api/keys/:id/rotate`. */
export const RotateSchema = Type.Object({
  graceMs: Type.Integer({
    minimum: 0,
    maximum: MAX_GRACE_MS,
    description: "0 seconds to 7 days, in ms",
  }),
});

/** Body of `PATCH /console/api/accounts/:id`; null: the service's default. */
export const AccountChangesSchema = Type.Object(
  {
    scopes: Type.Optional(Type.Union([Scopes, Type.Null()])),
    maxKeys: Type.Optional(Bound),
    maxWindowLimit: Type.Optional(Bound),
    isDisabled: Type.Optional(Type.Boolean()),
  },
  strict,
);
export type AccountChangesBody = Static<typeof AccountChangesSchema>;

/** Body of `POST /console/api/invitations`. */
export const NewInvitationSchema = Type.Object({
  note: Type.Optional(Type.String({ maxLength: 200 })),
  validDays: Type.Optional(Type.Integer({ minimum: 1, maximum: 90, description: "1 to 90" })),
});

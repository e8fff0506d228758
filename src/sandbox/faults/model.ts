import { type Static, type TSchema, Type } from "@sinclair/typebox";

const Millis = Type.Integer({ minimum: 0, maximum: 600_000 });
const RateLimitForm = Type.Union([
  /** HTTP 429. */
  Type.Literal("status"),
  /** HTTP 200 whose body is a JSON-RPC error. */
  Type.Literal("rpcError"),
  /** HTTP 200; in a batch every second item is an error, the others are answered. */
  Type.Literal("batchItems"),
]);

/** Members every fault may have. */
const common = {
  /** Only requests that contain one of these methods. */
  methods: Type.Optional(Type.Array(Type.String())),
  /** Chance that a matching request is hit; 1 when left out. */
  probability: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  /** Hits at most this many requests. */
  times: Type.Optional(Type.Integer({ minimum: 1 })),
  /** Ends this long after it was set. */
  forMs: Type.Optional(Millis),
};

const fault = <Kind extends string, Members extends Record<string, TSchema>>(
  kind: Kind,
  members: Members,
) =>
  Type.Object({ kind: Type.Literal(kind), ...common, ...members }, { additionalProperties: false });

/** One scripted fault of a node. */
export const FaultSchema = Type.Union([
  /** Waits `ms`, and up to `jitterMs` more, before the request is forwarded. */
  fault("delay", { ms: Millis, jitterMs: Type.Optional(Millis) }),
  /** Answers with this status. */
  fault("status", {
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    body: Type.Optional(
      Type.Union([Type.Literal("json"), Type.Literal("html"), Type.Literal("empty")]),
    ),
  }),
  /** Answers with a JSON-RPC error in HTTP 200. */
  fault("rpcError", {
    code: Type.Integer(),
    message: Type.String(),
    data: Type.Optional(Type.Unknown()),
  }),
  /** Answers that the caller's rate is too high. */
  fault("rateLimit", {
    as: RateLimitForm,
    retryAfterSeconds: Type.Optional(Type.Integer({ minimum: 0 })),
  }),
  /** Rate-limits what exceeds `requests` in any `windowMs`. */
  fault("rateCap", {
    requests: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
    windowMs: Type.Integer({ minimum: 1, maximum: 600_000 }),
    as: Type.Optional(RateLimitForm),
    retryAfterSeconds: Type.Optional(Type.Integer({ minimum: 0 })),
  }),
  /** Never answers. */
  fault("hang", {}),
  /** Closes the connection before any byte of the answer. */
  fault("reset", {}),
  /** Closes the connection in the middle of the body. */
  fault("truncate", {}),
  /** Answers 200 with bytes that are no JSON. */
  fault("garbage", {}),
  /** Answers as a node that is this many blocks behind; the chains keep the state of 64. */
  fault("lag", { blocks: Type.Integer({ minimum: 1, maximum: 60 }) }),
  /** Claims to serve another chain. */
  fault("wrongChain", { chainId: Type.Integer({ minimum: 1 }) }),
  /** Answers with an id that was not asked for. */
  fault("wrongId", {}),
  /** Answers a batch in reverse order, without its last item, or with one error for all of it. */
  fault("batch", {
    as: Type.Union([
      Type.Literal("reversed"),
      Type.Literal("missing"),
      Type.Literal("singleError"),
    ]),
  }),
  /** Refuses connections: the listener is closed until the fault ends. */
  fault("down", {}),
]);

export type Fault = Static<typeof FaultSchema>;
export type FaultKind = Fault["kind"];
export type RateLimitForm = Static<typeof RateLimitForm>;

/** Body of `POST /faults`; it replaces the whole script. */
export const FaultScriptSchema = Type.Object(
  {
    /** Seed of every random choice; 1 when left out. */
    seed: Type.Optional(Type.Integer()),
    faults: Type.Array(FaultSchema, { maxItems: 64 }),
  },
  { additionalProperties: false },
);

import { type Static, Type } from "@sinclair/typebox";

const Polls = Type.Integer({ minimum: 0, maximum: 1_000 });

/** Fields of a message that can be forged. */
export const messageFields = [
  "version",
  "sourceDomain",
  "destinationDomain",
  "nonce",
  "sender",
  "recipient",
  "destinationCaller",
  "minFinalityThreshold",
  "finalityThresholdExecuted",
  "bodyVersion",
  "burnToken",
  "mintRecipient",
  "amount",
  "messageSender",
  "maxFee",
  "feeExecuted",
  "hookData",
] as const;
export type MessageField = (typeof messageFields)[number];

/**
 * How the attestation service treats a burn; taken when it first hears of the transaction. Polls
 * count per transaction, and the parts come in the order below.
 */
export const MoodSchema = Type.Object(
  {
    /** Not indexed: 404. */
    unseenPolls: Type.Optional(Polls),
    /** Seen and not processed: an empty list. */
    emptyPolls: Type.Optional(Polls),
    /** Answers with this status. */
    failingPolls: Type.Optional(Polls),
    failingStatus: Type.Optional(Type.Integer({ minimum: 500, maximum: 599 })),
    /** Answers that are no JSON. */
    malformedPolls: Type.Optional(Polls),
    /** Waits for confirmations. */
    pendingPolls: Type.Optional(Polls),
    /** Why; a fast transfer becomes a standard one. */
    delayReason: Type.Optional(
      Type.Union([
        Type.Literal("insufficient_fee"),
        Type.Literal("amount_above_max"),
        Type.Literal("insufficient_allowance_available"),
      ]),
    ),
    /** Signs a message in which this field is another. */
    forgedField: Type.Optional(Type.Union(messageFields.map((field) => Type.Literal(field)))),
    forgedPolls: Type.Optional(Polls),
    /** The attestation is too old to be used until it is asked for anew. */
    expired: Type.Optional(Type.Boolean()),
    /** What becomes of a message that asks to be forwarded. */
    forward: Type.Optional(
      Type.Union([
        Type.Literal("mints"),
        Type.Literal("fails"),
        /** Fails because the fee does not suffice, and takes none. */
        Type.Literal("underpaid"),
        /** Somebody else mints first. */
        Type.Literal("front-run"),
        Type.Literal("never"),
      ]),
    ),
  },
  { additionalProperties: false },
);
export type Mood = Static<typeof MoodSchema>;

/** Body of `POST /moods`; `blockMs`: everything answers 429 for this long. */
export const MoodBodySchema = Type.Object(
  { mood: Type.Optional(MoodSchema), blockMs: Type.Optional(Type.Integer({ minimum: 0 })) },
  { additionalProperties: false },
);

/** What a poll is answered with under a mood. */
export type Phase =
  "unseen" | "empty" | "failing" | "malformed" | "pending" | "forged" | "complete";

/** The phase of the `poll`-th poll, counted from 0. */
export function phaseOf(mood: Mood, poll: number): Phase {
  const phases: readonly (readonly [Phase, number | undefined])[] = [
    ["unseen", mood.unseenPolls],
    ["empty", mood.emptyPolls],
    ["failing", mood.failingPolls],
    ["malformed", mood.malformedPolls],
    ["pending", mood.pendingPolls],
    ["forged", mood.forgedPolls],
  ];
  let from = 0;
  for (const [phase, polls = 0] of phases) {
    if (poll < from + polls) return phase;
    from += polls;
  }
  return "complete";
}

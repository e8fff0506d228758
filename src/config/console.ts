import { type Static, Type } from "@sinclair/typebox";

/** Who may make an account by signing in with a wallet. */
export type SignUp = "open" | "invitation" | "off";

/** The developer console. */
export interface ConsoleConfig {
  readonly signUp: SignUp;
  /** Origin the console is opened at; undefined: on loopback, whatever the browser calls it. */
  readonly publicOrigin: string | undefined;
  readonly sessionMs: number;
  /** What an account may do unless the operator says otherwise. */
  readonly account: {
    /** Scopes its keys may have. */
    readonly scopes: readonly string[];
    /** Keys that are neither revoked nor expired. */
    readonly maxKeys: number;
    /** Largest window limit of one of its keys; undefined: the default window limit. */
    readonly maxWindowLimit: number | undefined;
  };
}

const Scope = Type.Union([
  Type.Literal("read"),
  Type.Literal("swaps"),
  Type.Literal("quotes"),
  Type.Literal("bridges"),
]);

/** The `console` section of the config file. */
export const ConsoleFileSchema = Type.Object(
  {
    signUp: Type.Optional(
      Type.Union([Type.Literal("open"), Type.Literal("invitation"), Type.Literal("off")]),
    ),
    /** Origin the console is opened at, such as `https://api.example.com`. */
    publicUrl: Type.Optional(Type.String({ pattern: "^https?://[^/?#]+/?$" })),
    sessionMs: Type.Optional(Type.Integer({ minimum: 60_000, maximum: 30 * 86_400_000 })),
    account: Type.Optional(
      Type.Object(
        {
          /** `bridges` is left out by default: it moves the operator's funds. */
          scopes: Type.Optional(Type.Array(Scope, { minItems: 1, uniqueItems: true })),
          maxKeys: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
          maxWindowLimit: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);

/** The console's settings with their defaults. */
export function consoleConfig(file: Static<typeof ConsoleFileSchema> = {}): ConsoleConfig {
  return {
    signUp: file.signUp ?? "invitation",
    publicOrigin: file.publicUrl === undefined ? undefined : new URL(file.publicUrl).origin,
    sessionMs: file.sessionMs ?? 12 * 3_600_000,
    account: {
      scopes: file.account?.scopes ?? ["read", "swaps", "quotes"],
      maxKeys: file.account?.maxKeys ?? 10,
      maxWindowLimit: file.account?.maxWindowLimit,
    },
  };
}

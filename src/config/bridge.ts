import { type Static, Type } from "@sinclair/typebox";
import { parseDecimalAmount } from "../lib/amounts.ts";

/** Pause between two looks at something: a tenth of the time waited, within these bounds. */
export interface PaceConfig {
  readonly minMs: number;
  readonly maxMs: number;
}

/** The bridge's settings. Amounts in atomic USDC. */
export interface BridgeConfig {
  /** false: no new transfers are taken; those under way are finished. */
  readonly enabled: boolean;
  /** File with the operator's private keys; undefined: every transfer answers 500. */
  readonly operatorKeyFile: string | undefined;
  /** Most that is burned on top of an amount; both bounds hold. */
  readonly maxFeeBps: number;
  readonly maxFeeAtomic: bigint;
  /** Bounds on amounts and fees; days are UTC. */
  readonly limits: {
    readonly perTransferAtomic: bigint;
    readonly perKeyAndDayAtomic: bigint;
    readonly perDayAtomic: bigint;
  };
  /** Circle's attestation service. */
  readonly attestation: {
    readonly urls: Readonly<Record<"mainnet" | "testnet", string>>;
    /** Of all transfers together; the service blocks whoever asks more than 35 times a second. */
    readonly requestsPerSecond: number;
    readonly timeoutMs: number;
    /** Nothing is asked for this long after a 429, whose block lasts 5 minutes. */
    readonly restMs: number;
    readonly pace: PaceConfig;
  };
  readonly chainPace: PaceConfig;
  /** A forwarder that has not minted for this long is not waited for any more. */
  readonly forwardTimeoutMs: number;
  /** A transaction that is in no block for this long is replaced, paying more. */
  readonly replaceAfterMs: number;
  readonly pollMs: number;
  /** Pause of a transfer whose step failed. */
  readonly retryMs: number;
  /** A worker that died is replaced after this long. */
  readonly leaseMs: number;
}

const Millis = Type.Integer({ minimum: 1, maximum: 86_400_000 });
const Url = Type.String({ pattern: "^https?://" });
const Usdc = Type.String({ pattern: "^[0-9]{1,12}(\\.[0-9]{1,6})?$" });
const Pace = Type.Object({ minMs: Millis, maxMs: Millis }, { additionalProperties: false });

/** The `bridge` section of the config file; amounts as decimal USDC. */
export const BridgeFileSchema = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean()),
    maxFeeBps: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
    maxFeeUsdc: Type.Optional(Usdc),
    limits: Type.Optional(
      Type.Object(
        {
          perTransferUsdc: Type.Optional(Usdc),
          perKeyAndDayUsdc: Type.Optional(Usdc),
          perDayUsdc: Type.Optional(Usdc),
        },
        { additionalProperties: false },
      ),
    ),
    attestation: Type.Optional(
      Type.Object(
        {
          urls: Type.Optional(
            Type.Object(
              { mainnet: Type.Optional(Url), testnet: Type.Optional(Url) },
              { additionalProperties: false },
            ),
          ),
          requestsPerSecond: Type.Optional(Type.Integer({ minimum: 1, maximum: 30 })),
          timeoutMs: Type.Optional(Millis),
          restMs: Type.Optional(Millis),
          pace: Type.Optional(Pace),
        },
        { additionalProperties: false },
      ),
    ),
    chainPace: Type.Optional(Pace),
    forwardTimeoutMs: Type.Optional(Millis),
    replaceAfterMs: Type.Optional(Millis),
    pollMs: Type.Optional(Millis),
    retryMs: Type.Optional(Millis),
    leaseMs: Type.Optional(Millis),
  },
  { additionalProperties: false },
);

const USDC_DECIMALS = 6;

/** The settings a config file and the environment give; what is left out keeps its default. */
export function bridgeConfig(
  file: Static<typeof BridgeFileSchema> = {},
  operatorKeyFile: string | undefined,
): BridgeConfig {
  const { limits = {}, attestation = {} } = file;
  return {
    enabled: file.enabled ?? true,
    operatorKeyFile,
    maxFeeBps: file.maxFeeBps ?? 1_000,
    maxFeeAtomic: atomic(file.maxFeeUsdc ?? "2"),
    limits: {
      perTransferAtomic: atomic(limits.perTransferUsdc ?? "10000"),
      perKeyAndDayAtomic: atomic(limits.perKeyAndDayUsdc ?? "50000"),
      perDayAtomic: atomic(limits.perDayUsdc ?? "250000"),
    },
    attestation: {
      urls: {
        mainnet: attestation.urls?.mainnet ?? "https://iris-api.circle.com",
        testnet: attestation.urls?.testnet ?? "https://iris-api-sandbox.circle.com",
      },
      requestsPerSecond: attestation.requestsPerSecond ?? 10,
      timeoutMs: attestation.timeoutMs ?? 5_000,
      restMs: attestation.restMs ?? 330_000,
      pace: attestation.pace ?? { minMs: 5_000, maxMs: 60_000 },
    },
    chainPace: file.chainPace ?? { minMs: 500, maxMs: 15_000 },
    forwardTimeoutMs: file.forwardTimeoutMs ?? 600_000,
    replaceAfterMs: file.replaceAfterMs ?? 60_000,
    pollMs: file.pollMs ?? 500,
    retryMs: file.retryMs ?? 5_000,
    leaseMs: file.leaseMs ?? 10_000,
  };
}

/** The schema has made sure of the form; zero is no amount of money, but a fine bound. */
function atomic(usdc: string): bigint {
  return parseDecimalAmount(usdc.replace(/^0+(?=[0-9])/, ""), USDC_DECIMALS) ?? 0n;
}

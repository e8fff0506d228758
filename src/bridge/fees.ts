import { parseDecimalAmount } from "../lib/amounts.ts";

/** Finality a burn asks for: `fast` is attested before the source is final, for a fee. */
export type Finality = "fast" | "standard";

/** Values of `minFinalityThreshold` (CCTP V2). */
export const finalityThresholds: Readonly<Record<Finality, number>> = {
  fast: 1_000,
  standard: 2_000,
};

/** What the attestation service asks for on one route, as read. */
export interface RouteFees {
  /** Millionths of a bps; undefined: the tier does not exist on this route. */
  readonly fastMicroBps: bigint | undefined;
  readonly standardMicroBps: bigint;
  /** Atomic USDC; undefined: no forwarding to this destination. */
  readonly forwardFeeAtomic: bigint | undefined;
}

/** Most the operator pays on top of an amount; both bounds hold. */
export interface FeeCap {
  readonly maxFeeBps: number;
  readonly maxFeeAtomic: bigint;
}

/** How a transfer will be burned and minted. */
export interface FeePlan {
  readonly useForwarder: boolean;
  readonly finality: Finality;
  /** Burned on top of the amount, and the message's `maxFee`. */
  readonly maxFeeAtomic: bigint;
}

const MICRO_BPS_PER_WHOLE = 10_000n * 1_000_000n;

/**
 * Chooses the way of a transfer and what is burned on top, so that the recipient is minted exactly
 * the amount. Forwarded: the forwarder takes all of `maxFee`, so it is the bare quote without
 * headroom, fast where that fits the cap. Minted by us: standard finality, whose fee is what the
 * route's minimum says, most often nothing. Where forwarding costs more than the cap allows, we
 * mint ourselves.
 * @param mayForward - what the caller asked for
 * @returns undefined when even the cheapest way is above the cap
 */
export function planFees(
  amountAtomic: bigint,
  mayForward: boolean,
  fees: RouteFees,
  cap: FeeCap,
): FeePlan | undefined {
  const ways: FeePlan[] = [];
  if (mayForward && fees.forwardFeeAtomic !== undefined) {
    const forward = fees.forwardFeeAtomic;
    const way = (finality: Finality, microBps: bigint) => {
      const maxFeeAtomic = forward + feeOnTop(amountAtomic + forward, microBps);
      ways.push({ useForwarder: true, finality, maxFeeAtomic });
    };
    if (fees.fastMicroBps !== undefined) way("fast", fees.fastMicroBps);
    way("standard", fees.standardMicroBps);
  }
  const own = feeOnTop(amountAtomic, fees.standardMicroBps);
  ways.push({ useForwarder: false, finality: "standard", maxFeeAtomic: own });
  return ways.find(({ maxFeeAtomic }) => isWithin(maxFeeAtomic, amountAtomic, cap));
}

/** The fee `f` with `f = ceil((net + f) × rate)`: what must be added so that `net` remains. */
function feeOnTop(net: bigint, microBps: bigint): bigint {
  if (microBps === 0n) return 0n;
  const divisor = MICRO_BPS_PER_WHOLE - microBps;
  return (net * microBps + divisor - 1n) / divisor;
}

function isWithin(fee: bigint, amount: bigint, cap: FeeCap): boolean {
  return fee === 0n || (fee <= cap.maxFeeAtomic && fee * 10_000n <= amount * BigInt(cap.maxFeeBps));
}

/**
 * Reads the answer of `GET /v2/burn/USDC/fees/{source}/{destination}?forward=true`: one entry per
 * tier, `minimumFee` in bps (fractional, number or text), `forwardFee` per urgency in atomic USDC.
 * @returns undefined when the answer has no standard tier or another shape
 */
export function parseRouteFees(answer: unknown): RouteFees | undefined {
  if (!Array.isArray(answer)) return undefined;
  const tier = (threshold: number): Record<string, unknown> | undefined =>
    answer.find((entry) => isRecord(entry) && Number(entry["finalityThreshold"]) === threshold);
  const standard = tier(finalityThresholds.standard);
  const standardMicroBps = microBpsOf(standard?.["minimumFee"]);
  if (!standard || standardMicroBps === undefined) return undefined;
  return {
    fastMicroBps: microBpsOf(tier(finalityThresholds.fast)?.["minimumFee"]),
    standardMicroBps,
    forwardFeeAtomic: forwardFeeOf(standard["forwardFee"]),
  };
}

/** The dearest tier: less than it may leave the message undelivered. */
function forwardFeeOf(tiers: unknown): bigint | undefined {
  if (!isRecord(tiers)) return undefined;
  const fee = tiers["high"] ?? tiers["med"] ?? tiers["medium"] ?? tiers["low"];
  const text = String(fee);
  return /^[0-9]{1,15}$/.test(text) ? BigInt(text) : undefined;
}

function microBpsOf(bps: unknown): bigint | undefined {
  if (typeof bps !== "number" && typeof bps !== "string") return undefined;
  const text = typeof bps === "number" ? bps.toFixed(6) : bps;
  if (/^0(?:\.0*)?$/.test(text)) return 0n;
  const microBps = parseDecimalAmount(text, 6);
  return microBps !== undefined && microBps < MICRO_BPS_PER_WHOLE ? microBps : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

import type { Chain } from "../chains/index.ts";
import type { Finality } from "./fees.ts";

/** Seconds from burn to attestation, shortest and longest that is usual. */
interface Span {
  readonly minSeconds: number;
  readonly maxSeconds: number;
}

/** Networks of which one block is final. */
const instant: Span = { minSeconds: 1, maxSeconds: 10 };
/** Ethereum and what settles to it: about 65 of its blocks. */
const ethereumFinality: Span = { minSeconds: 780, maxSeconds: 1_140 };

/** By CCTP domain (Circle, "CCTP finality and fees"); a domain that is missing is as Ethereum. */
const standard: Readonly<Record<number, Span>> = {
  1: instant,
  5: { minSeconds: 25, maxSeconds: 40 },
  7: { minSeconds: 75, maxSeconds: 120 },
  13: instant,
  15: instant,
  16: instant,
  19: instant,
  26: instant,
};

const fast: Span = { minSeconds: 8, maxSeconds: 20 };

/** From attestation to mint: a forwarder takes 40 s to 4 min, our own transaction seconds. */
const minting: Readonly<Record<"forwarder" | "own", Span>> = {
  forwarder: { minSeconds: 40, maxSeconds: 240 },
  own: { minSeconds: 5, maxSeconds: 60 },
};

/**
 * How long a transfer usually takes, as a range in whole minutes.
 * @example "1-5 minutes"
 */
export function estimateTime(from: Chain, finality: Finality, useForwarder: boolean): string {
  const domain = from.cctp?.domain ?? -1;
  const attestation = finality === "fast" ? fast : (standard[domain] ?? ethereumFinality);
  const mint = minting[useForwarder ? "forwarder" : "own"];
  const min = Math.max(1, Math.floor((attestation.minSeconds + mint.minSeconds) / 60));
  const max = Math.max(min + 1, Math.ceil((attestation.maxSeconds + mint.maxSeconds) / 60));
  return `${min}-${max} minutes`;
}

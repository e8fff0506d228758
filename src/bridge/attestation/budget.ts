import type { Clock } from "../../lib/clock.ts";

/** Permission to ask the attestation service; one for all transfers of the process. */
export interface RequestBudget {
  /** Takes one request; false: not now. */
  tryTake(): boolean;
  /** The service has had enough of us: nothing is asked for this long. */
  rest(ms: number): void;
  isResting(): boolean;
}

/**
 * A budget without bursts: two requests are never closer than 1 / `perSecond`.
 * @param perSecond - above 0
 */
export function createBudget(perSecond: number, clock: Clock): RequestBudget {
  const gapMs = 1_000 / perSecond;
  let nextAt = Number.NEGATIVE_INFINITY;
  let restUntil = Number.NEGATIVE_INFINITY;
  return {
    tryTake() {
      const now = clock.monotonic();
      if (now < nextAt || now < restUntil) return false;
      nextAt = now + gapMs;
      return true;
    },
    rest(ms) {
      restUntil = Math.max(restUntil, clock.monotonic() + ms);
    },
    isResting: () => clock.monotonic() < restUntil,
  };
}

import type { Upstream } from "../upstream.ts";

/** Longest time an upstream that went out of use is waited for: two or three probes, ms. */
const MAX_WAIT_MS = 1_500;
/** Time worth waiting for each request that is saved by it, ms; the first probe comes after 250. */
const WAIT_PER_REQUEST_MS = 250;

interface Absence {
  readonly sinceMs: number;
  wasBack: boolean;
}

/**
 * Upstreams that went out of use, or were not looked at yet, as one query sees it. Three faults in a
 * row are often chance, and a node is mostly back with its first probe; what only it takes would
 * meanwhile cost the others many requests.
 */
export class Absences {
  /** By name, from the first sight until it answers; as many as the chain has upstreams. */
  readonly #absences = new Map<string, Absence>();
  readonly #met = new Set<string>();

  constructor(private readonly now: () => number) {}

  /**
   * Time for which an upstream has not been in use, ms.
   * @returns 0 for one in use; infinite for one that cannot be hoped for: it serves another chain,
   *   or was back and went out again before it had answered
   */
  awayMs(upstream: Upstream): number {
    const { name } = upstream;
    const known = this.#absences.get(name);
    if (upstream.usable) {
      this.#met.add(name);
      if (known) known.wasBack = true;
      return 0;
    }
    if (upstream.identity === "wrong" || upstream.isLeaving || known?.wasBack) {
      return Number.POSITIVE_INFINITY;
    }
    if (known) return this.now() - known.sinceMs;
    // One that was out before the query began has been so since its last answer at least.
    const isNew = this.#met.has(name) || !upstream.ejected;
    const sinceMs = isNew ? this.now() : upstream.record.lastAnswerMs;
    this.#absences.set(name, { sinceMs, wasBack: false });
    return this.now() - sinceMs;
  }

  /** Notes that an upstream answered. */
  answered(name: string): void {
    this.#absences.delete(name);
  }
}

/**
 * Whether an upstream that went out of use is better waited for than done without.
 * @param savedRequests - how many more would be needed without it
 */
export function isWorthWaiting(awayMs: number, savedRequests = Number.POSITIVE_INFINITY): boolean {
  return awayMs < Math.min(MAX_WAIT_MS, savedRequests * WAIT_PER_REQUEST_MS);
}

import type { CancelSignal } from "../../lib/cancel.ts";
import type { ChainPool } from "../chainPool.ts";
import type { Upstream } from "../upstream.ts";
import { Absences, isWorthWaiting } from "./absences.ts";
import { type BlockRange, type Known, type LogCaps, sizeOf } from "./caps.ts";
import { expectedRequests, type Plan, planPieces } from "./plan.ts";

/** How often to look whether an upstream that is waited for is back, ms. */
const RETURN_NAP_MS = 20;

export interface TakersOptions {
  readonly pool: ChainPool;
  readonly caps: LogCaps;
  /** The query's filter without its blocks. */
  readonly filter: string;
}

/** Who takes which ranges of one query, as far as known at the moment of asking. */
export class Takers {
  readonly #absences: Absences;

  constructor(private readonly options: TakersOptions) {
    const { clock } = options.pool.options;
    this.#absences = new Absences(() => clock.monotonic());
  }

  /** How a range is best asked for now. */
  plan(range: BlockRange): Plan {
    return planPieces(sizeOf(range), this.#allKnown(this.#candidates(range), range));
  }

  /** Who may be asked for a range: those known to take it, or when there is none, the unknown. */
  suitsFor(range: BlockRange): (upstream: Upstream) => boolean {
    const blocks = sizeOf(range);
    return (upstream) => {
      const known = this.#known(upstream, range);
      if (known.most < blocks) return false;
      const candidates = this.#candidates(range);
      if (!candidates.includes(upstream)) return false;
      return (
        known.proven >= blocks ||
        !this.#allKnown(candidates, range).some(({ proven }) => proven >= blocks)
      );
    };
  }

  /** Whether someone in use may be asked for a range. */
  isServed(range: BlockRange): boolean {
    return this.#awayMs(range) === 0;
  }

  /**
   * Waits for the return of whoever is to take a range.
   * @param untilMs - monotonic time at which waiting ends
   * @returns false when nobody is to
   */
  async await(range: BlockRange, untilMs: number, signal: CancelSignal): Promise<boolean> {
    const { clock } = this.options.pool.options;
    for (;;) {
      const awayMs = this.#awayMs(range);
      if (awayMs === undefined) return false;
      // Where none is to be hoped for, the call itself has them looked at.
      if (awayMs === 0 || !isWorthWaiting(awayMs) || clock.monotonic() >= untilMs) return true;
      await clock.sleep(RETURN_NAP_MS, signal);
    }
  }

  /** Whether any upstream is in use, or likely soon. */
  hasHope(): boolean {
    const { upstreams } = this.options.pool;
    return upstreams.some((upstream) => isWorthWaiting(this.#absences.awayMs(upstream)));
  }

  /** Notes that an upstream answered. */
  answered(name: string): void {
    this.#absences.answered(name);
  }

  /** How long the nearest of those that are to take a range has been out; undefined: there is none. */
  #awayMs(range: BlockRange): number | undefined {
    const suitable = this.#candidates(range).filter(this.suitsFor(range));
    if (suitable.length === 0) return undefined;
    return Math.min(...suitable.map((upstream) => this.#absences.awayMs(upstream)));
  }

  /** Those that take requests, and those better waited for than done without. */
  #candidates(range: BlockRange): readonly Upstream[] {
    const { upstreams } = this.options.pool;
    const free = upstreams.filter((upstream) => this.#delayMs(upstream) === 0);
    if (free.length === upstreams.length) return free;
    const requests = this.#requests(free, range);
    const expected = upstreams.filter((upstream) => {
      const delayMs = this.#delayMs(upstream);
      if (delayMs === 0) return false;
      return isWorthWaiting(delayMs, requests - this.#requests([...free, upstream], range));
    });
    const candidates = [...free, ...expected];
    return candidates.length > 0
      ? candidates
      : upstreams.filter(({ identity }) => identity !== "wrong");
  }

  /** How long an upstream has been out, or how long its pace still asks to wait, ms. */
  #delayMs(upstream: Upstream): number {
    const awayMs = this.#absences.awayMs(upstream);
    if (awayMs > 0) return awayMs;
    const waitMs = upstream.admissionWaitMs(this.options.pool.options.clock.monotonic());
    // At its limit in flight, it is free again with the next answer.
    return Number.isFinite(waitMs) ? waitMs : 0;
  }

  #requests(upstreams: readonly Upstream[], range: BlockRange): number {
    const blocks = sizeOf(range);
    return expectedRequests(blocks, planPieces(blocks, this.#allKnown(upstreams, range)));
  }

  #allKnown(upstreams: readonly Upstream[], range: BlockRange): Known[] {
    return upstreams.map((upstream) => this.#known(upstream, range));
  }

  #known(upstream: Upstream, range: BlockRange): Known {
    return this.options.caps.known(upstream.name, this.options.filter, range);
  }
}

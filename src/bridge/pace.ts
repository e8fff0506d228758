/** How often something is looked at: soon at first, less often the longer it takes. */
export interface Pace {
  readonly minMs: number;
  readonly maxMs: number;
}

/** Share of the time waited so far that the next pause is. */
const SHARE = 0.1;

/** The next pause of something that has been waited for `waitedMs`. */
export function pauseMs({ minMs, maxMs }: Pace, waitedMs: number): number {
  return Math.min(maxMs, Math.max(minMs, Math.round(waitedMs * SHARE)));
}

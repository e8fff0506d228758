import type { Awaitable } from "./awaitable.ts";

/** What processes on one database know of each other. */
export interface Peers {
  /** Takes part: from now on this process counts as one of the replicas. */
  join(): Awaitable<void>;
  /**
   * Looks what other processes changed, and who is there. Called about twice a second, and when
   * another process says that it changed something.
   */
  refresh(): Awaitable<void>;
  /** Replicas alive, and this one's place among them: 0 ≤ rank < count. */
  standing(): { readonly rank: number; readonly count: number };
  /** A number that differs after any process changed what is configured at run time. */
  configRevision(): number;
  /** Has every process read its configuration anew. */
  announceConfig(): Awaitable<void>;
  /** Called after this process changed what others should see soon. */
  onChange(listener: () => void): void;
}

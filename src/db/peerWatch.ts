import { systemClock } from "../lib/clock.ts";
import type { Peers } from "./peers.ts";

/** Notices what other processes on the database change. */
export interface PeerWatch {
  start(): void;
  /** Looks now, because something was announced. */
  poke(): void;
  stop(): void;
}

export interface PeerWatchOptions {
  readonly peers: Peers;
  /** Called after any process changed what is configured at run time. */
  readonly onConfig: () => void;
  /** Called about twice a second while the database answers. */
  readonly onLook: () => Promise<void>;
  /** Told when looking begins to fail, and when it works again. */
  readonly onHealth: (error: unknown) => void;
}

/** A change that was not announced is noticed within this, ms. */
const LOOK_MS = 500;

/** Looks regularly, and at once when something was announced: announcements may be lost. */
export function createPeerWatch(options: PeerWatchOptions): PeerWatch {
  const { peers, onConfig, onLook, onHealth } = options;
  const stopping = new AbortController();
  let configRevision = peers.configRevision();
  let looking: Promise<void> | undefined;
  let isAnnounced = false;
  let isFailing = false;

  async function look(): Promise<void> {
    try {
      await peers.refresh();
      const current = peers.configRevision();
      if (current !== configRevision) onConfig();
      configRevision = current;
      await onLook();
      if (isFailing) onHealth(undefined);
      isFailing = false;
    } catch (error) {
      if (!isFailing) onHealth(error);
      isFailing = true;
    }
  }

  /** One look at a time; what is announced during one is looked at after it. */
  function lookSoon(): void {
    isAnnounced = true;
    looking ??= (async () => {
      while (isAnnounced && !stopping.signal.aborted) {
        isAnnounced = false;
        await look();
      }
    })().finally(() => {
      looking = undefined;
    });
  }

  async function repeat(): Promise<void> {
    for (;;) {
      await systemClock.sleep(LOOK_MS, stopping.signal);
      lookSoon();
    }
  }

  return {
    // Sleeping ends with an error when the watch is stopped, which is how the loop ends.
    start: () => void repeat().catch(() => undefined),
    poke: lookSoon,
    stop: () => stopping.abort(),
  };
}

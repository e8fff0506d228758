import { PATH } from "./support.ts";

/** What the callers saw. */
export interface Tally {
  readonly sent: number;
  /** Answers by status; 0: there was none. */
  readonly byStatus: ReadonlyMap<number, number>;
  readonly slowestMs: number;
}

export interface LoadOptions {
  /** Where the next request goes. */
  readonly origin: () => string;
  /** The key of the next request. */
  readonly secret: string;
  readonly perSecond: number;
  readonly path?: string;
  readonly init?: RequestInit;
}

/** Requests at a fixed rate, whether earlier ones were answered or not. */
export interface RunningLoad {
  /** Ends it and waits for the last answers. */
  stop(): Promise<Tally>;
  /** Requests answered so far. */
  answered(): number;
}

const TURN_MS = 10;
const GIVE_UP_MS = 60_000;

/** Starts a load in this process. */
export function startLoad({
  origin,
  secret,
  perSecond,
  path = PATH,
  init,
}: LoadOptions): RunningLoad {
  const byStatus = new Map<number, number>();
  const open = new Set<Promise<void>>();
  const startedAt = performance.now();
  let [sent, answered, slowestMs, isOver] = [0, 0, 0, false];

  const send = async () => {
    const sentAt = performance.now();
    let status = 0;
    try {
      const response = await fetch(origin() + path, {
        ...init,
        headers: { "x-api-key": secret, "content-type": "application/json" },
        signal: AbortSignal.timeout(GIVE_UP_MS),
      });
      await response.bytes();
      ({ status } = response);
    } catch {
      // No answer.
    }
    slowestMs = Math.max(slowestMs, performance.now() - sentAt);
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    answered++;
  };
  const turn = () => {
    if (isOver) return;
    const due = Math.floor(((performance.now() - startedAt) / 1_000) * perSecond);
    while (sent < due) {
      sent++;
      const request = send().finally(() => open.delete(request));
      open.add(request);
    }
    setTimeout(turn, TURN_MS);
  };
  turn();
  return {
    answered: () => answered,
    async stop() {
      isOver = true;
      await Promise.all(open);
      return { sent, byStatus, slowestMs };
    },
  };
}

/** Origins in turn. */
export function inTurn(origins: readonly string[]): () => string {
  let next = 0;
  return () => origins[next++ % origins.length] ?? "";
}

/** Shows a tally in one line. */
export function describeTally({ sent, byStatus, slowestMs }: Tally): string {
  const counts = [...byStatus].map(([status, count]) => `${status}: ${count}`).join(", ");
  return `${sent} sent; ${counts}; slowest ${Math.round(slowestMs)} ms`;
}

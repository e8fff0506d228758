import type { LoadConnection } from "./connection.ts";
import type { Tally } from "./tally.ts";

/** Answers still missing this long after the last request was sent count as failures. */
const DRAIN_MS = 5_000;

/**
 * Sends requests at a fixed rate, each at its own time whether earlier ones were answered or not,
 * over the connection that has been free the longest. A latency runs from the time a request was
 * due, so a server that stalls is charged for everything that had to wait meanwhile.
 *
 * The loop spins between requests instead of sleeping: timers of 1 ms are too coarse for 1,000
 * requests per second. It runs at the lowest priority, so that it takes no time from the upstream
 * it shares a core with. A gentle loop sleeps.
 */
export async function runOpenLoop(
  connections: readonly LoadConnection[],
  next: () => string,
  tally: Tally,
  {
    rate,
    seconds,
    isGentle = false,
  }: { readonly rate: number; readonly seconds: number; readonly isGentle?: boolean },
): Promise<void> {
  const total = Math.max(1, Math.round(rate * seconds));
  const free = new Fifo<LoadConnection>(connections);
  /** Due times of requests that found no free connection. */
  const waiting = new Fifo<number>();
  const startedAt = performance.now();
  let due = 0;
  let answered = 0;

  const send = (connection: LoadConnection, dueAt: number) =>
    connection.send(next(), (answer) => {
      tally.add(answer, performance.now() - dueAt);
      answered++;
      if (!connection.isOpen) return;
      const late = waiting.take();
      if (late === undefined) free.add(connection);
      else send(connection, late);
    });

  await new Promise<void>((resolve) => {
    const turn = () => {
      const now = performance.now();
      while (due < total && startedAt + (due / rate) * 1_000 <= now) {
        const dueAt = startedAt + (due++ / rate) * 1_000;
        const connection = takeOpen(free);
        if (connection) send(connection, dueAt);
        else waiting.add(dueAt);
      }
      const isOver = answered === total || now > startedAt + seconds * 1_000 + DRAIN_MS;
      if (isOver) resolve();
      else if (isGentle) setTimeout(turn, 1);
      else setImmediate(turn);
    };
    turn();
  });
  for (; answered < total; answered++) tally.add(undefined, DRAIN_MS);
}

function takeOpen(free: Fifo<LoadConnection>): LoadConnection | undefined {
  for (;;) {
    const connection = free.take();
    if (!connection || connection.isOpen) return connection;
  }
}

/** A queue whose head moves on instead of everything behind it; bounded by the run's requests. */
class Fifo<Item> {
  readonly #items: Item[] = [];
  #head = 0;

  constructor(items: readonly Item[] = []) {
    this.#items.push(...items);
  }

  add(item: Item): void {
    this.#items.push(item);
  }

  take(): Item | undefined {
    const item = this.#items[this.#head];
    if (item === undefined) return undefined;
    this.#head++;
    if (this.#head > 1_024 && this.#head * 2 > this.#items.length) {
      this.#items.splice(0, this.#head);
      this.#head = 0;
    }
    return item;
  }
}

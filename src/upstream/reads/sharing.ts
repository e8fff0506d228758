import { Cancel, type CancelSignal } from "../../lib/cancel.ts";

/** What a caller asks of a flight to be answered by it. */
export interface Passenger {
  /** Equal for calls that ask the same. */
  readonly key: string;
  /** Block the answer must not be older than; -1: any. */
  readonly minHead: number;
  /** Whether a flight that began at a moment is late enough: after the caller's own broadcasts. */
  readonly isSince: (moment: number) => boolean;
  readonly signal: CancelSignal | undefined;
}

/** A reply, and whether this caller's call was the one sent. */
export interface Shared<Reply> {
  readonly reply: Reply;
  readonly joined: boolean;
}

/** One call under way, and how many wait for it. */
interface Flight<Reply> {
  /** When it began, on the scale of `Callers.tick`. */
  readonly begunAt: number;
  /** Lowest block its answer is from. */
  readonly minHead: number;
  readonly reply: Promise<Reply>;
  readonly cancel: Cancel;
  waiting: number;
}

/**
 * Lets identical reads under way share one upstream call. Any of the callers may leave without harm
 * to the others; when all have left, the call is cancelled. The map holds only calls under way.
 */
export class Flights<Reply> {
  readonly #flights = new Map<string, Flight<Reply>>();

  constructor(private readonly tick: () => number) {}

  /**
   * Joins the flight of this key, or starts one.
   * @param start - sends the call; its signal aborts when nobody waits any longer
   * @throws what `start` throws, or the passenger's signal's reason
   */
  board(
    passenger: Passenger,
    start: (signal: CancelSignal) => Promise<Reply>,
  ): Promise<Shared<Reply>> {
    const { key, minHead, isSince, signal } = passenger;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const running = this.#flights.get(key);
    if (running && running.minHead >= minHead && isSince(running.begunAt)) {
      return this.#ride(key, running, signal, true);
    }
    const cancel = new Cancel();
    const begunAt = this.tick();
    const flight = { begunAt, minHead, reply: start(cancel), cancel, waiting: 0 };
    // Whoever comes later needs the later one; the earlier goes on for those aboard.
    this.#flights.set(key, flight);
    return this.#ride(key, flight, signal, false);
  }

  #ride(
    key: string,
    flight: Flight<Reply>,
    signal: CancelSignal | undefined,
    joined: boolean,
  ): Promise<Shared<Reply>> {
    flight.waiting++;
    const { promise, resolve, reject } = Promise.withResolvers<Shared<Reply>>();
    const onAbort = () => {
      flight.waiting--;
      if (flight.waiting === 0) this.#abandon(key, flight);
      reject(signal?.reason);
    };
    const end = () => {
      signal?.removeEventListener("abort", onAbort);
      this.#forget(key, flight);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    const arrive = (reply: Reply) => {
      end();
      resolve({ reply, joined });
    };
    const crash = (error: unknown) => {
      end();
      reject(error);
    };
    flight.reply.then(arrive, crash);
    return promise;
  }

  /** Nobody may board a flight that is being cancelled. */
  #abandon(key: string, flight: Flight<Reply>): void {
    this.#forget(key, flight);
    flight.cancel.abort(new Error("nobody waits for the answer"));
  }

  #forget(key: string, flight: Flight<Reply>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}

/** One call under way, and who waits for it. */
interface Flight<Reply> {
  /** When it began, on the scale of `Callers.tick`. */
  readonly begunAt: number;
  /** Lowest block its answer is from. */
  readonly minHead: number;
  readonly reply: Promise<Reply>;
  readonly cancel: AbortController;
  waiting: number;
}

/** What a caller asks of a flight to be answered by it. */
export interface Passenger {
  /** Equal for calls that ask the same. */
  readonly key: string;
  /** Block the answer must not be older than; -1: any. */
  readonly minHead: number;
  /** Whether a flight that began at a moment is late enough: after the caller's own broadcasts. */
  readonly isSince: (moment: number) => boolean;
  readonly signal: AbortSignal | undefined;
}

/** A reply, and whether this caller's call was the one sent. */
export interface Shared<Reply> {
  readonly reply: Reply;
  readonly joined: boolean;
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
  async board(
    passenger: Passenger,
    start: (signal: AbortSignal) => Promise<Reply>,
  ): Promise<Shared<Reply>> {
    passenger.signal?.throwIfAborted();
    const running = this.#flights.get(passenger.key);
    const joins =
      running !== undefined &&
      running.minHead >= passenger.minHead &&
      passenger.isSince(running.begunAt);
    const flight = joins ? running : this.#launch(passenger, start);
    const reply = await this.#ride(flight, passenger.signal);
    return { reply, joined: joins };
  }

  #launch(
    { key, minHead }: Passenger,
    start: (signal: AbortSignal) => Promise<Reply>,
  ): Flight<Reply> {
    const cancel = new AbortController();
    const reply = start(cancel.signal);
    const flight = { begunAt: this.tick(), minHead, reply, cancel, waiting: 0 };
    // Whoever comes later needs the later one; the earlier goes on for those aboard.
    this.#flights.set(key, flight);
    const end = () => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    };
    reply.then(end, end);
    return flight;
  }

  async #ride(flight: Flight<Reply>, signal: AbortSignal | undefined): Promise<Reply> {
    flight.waiting++;
    if (!signal) return flight.reply;
    const left = Promise.withResolvers<never>();
    const onAbort = () => {
      flight.waiting--;
      if (flight.waiting === 0) this.#abandon(flight);
      left.reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await Promise.race([flight.reply, left.promise]);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Nobody may board a flight that is being cancelled. */
  #abandon(flight: Flight<Reply>): void {
    for (const [key, running] of this.#flights) {
      if (running === flight) this.#flights.delete(key);
    }
    flight.cancel.abort(new Error("nobody waits for the answer"));
  }
}

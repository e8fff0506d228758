/** A caller waiting for a flight: told how it ended, once, unless it left before. */
export interface Passenger<Reply> {
  /** @param joined - the call sent was another caller's */
  arrived(reply: Reply, joined: boolean): void;
  crashed(error: unknown): void;
}

/** One call under way, and those who wait for it. */
export abstract class Flight<Reply> {
  /** Who began it; most flights have nobody else aboard. */
  #pilot: Passenger<Reply> | undefined;
  #others: Passenger<Reply>[] | undefined;
  /** Kept by `Flights`. */
  nextInBucket: Flight<Reply> | undefined;

  /**
   * @param method - of the call
   * @param key - equal for calls of the method that ask the same; empty: the call is not shared
   * @param hash - the key's, by `hashOf`
   * @param begunAt - when it began, on the scale of `Callers.tick`
   * @param minHead - lowest block its answer is from; -1: any
   */
  constructor(
    private readonly flights: Flights<Reply>,
    readonly method: string,
    readonly key: string,
    readonly hash: number,
    readonly begunAt: number,
    readonly lowestHead: number,
    pilot: Passenger<Reply>,
  ) {
    this.#pilot = pilot;
  }

  /** Ends the call, which nobody waits for any longer. */
  protected abstract cancel(): void;

  /** Whether it is what a call of this method and key would ask. */
  isFor(method: string, key: string, hash: number): boolean {
    return this.hash === hash && this.key === key && this.method === method;
  }

  board(passenger: Passenger<Reply>): void {
    (this.#others ??= []).push(passenger);
  }

  /** A passenger leaves, without harm to the others; when all have left, the call is cancelled. */
  leave(passenger: Passenger<Reply>): void {
    if (this.#pilot === passenger) this.#pilot = undefined;
    else this.#others = this.#others?.filter((other) => other !== passenger);
    if (this.#pilot || this.#others?.length) return;
    // Nobody may board a flight that is being cancelled.
    this.flights.forget(this);
    this.cancel();
  }

  protected arrive(reply: Reply): void {
    this.flights.forget(this);
    this.#pilot?.arrived(reply, false);
    for (const passenger of this.#others ?? []) passenger.arrived(reply, true);
  }

  protected crash(error: unknown): void {
    this.flights.forget(this);
    this.#pilot?.crashed(error);
    for (const passenger of this.#others ?? []) passenger.crashed(error);
  }
}

/** Buckets there are at first; always a power of two. */
const FIRST_BUCKETS = 64;

/**
 * Identical reads under way, which share one upstream call. Holds only calls under way.
 *
 * A hash table of its own: a `Map` that entries come to and go from is copied again and again, each
 * copy refers to the next, and so what was in it outlives all collections but the full ones.
 */
export class Flights<Reply> {
  /** Each holds its flights as a list; at most as many as there ever were flights at once. */
  #buckets: (Flight<Reply> | undefined)[] = emptyBuckets(FIRST_BUCKETS);
  #size = 0;

  /** @param hash - the key's, by `hashOf` */
  find(method: string, key: string, hash: number): Flight<Reply> | undefined {
    let flight = this.#buckets[hash & (this.#buckets.length - 1)];
    while (flight && !flight.isFor(method, key, hash)) flight = flight.nextInBucket;
    return flight;
  }

  /** Whoever comes later needs the later one; an earlier one goes on for those aboard. */
  announce(flight: Flight<Reply>): void {
    const earlier = this.find(flight.method, flight.key, flight.hash);
    if (earlier) this.forget(earlier);
    if (this.#size >= this.#buckets.length) this.#grow();
    this.#link(flight);
    this.#size++;
  }

  /** Does nothing with one that is not there. */
  forget(flight: Flight<Reply>): void {
    const index = flight.hash & (this.#buckets.length - 1);
    let before: Flight<Reply> | undefined;
    let at = this.#buckets[index];
    while (at && at !== flight) {
      before = at;
      at = at.nextInBucket;
    }
    if (!at) return;
    if (before) before.nextInBucket = flight.nextInBucket;
    else this.#buckets[index] = flight.nextInBucket;
    flight.nextInBucket = undefined;
    this.#size--;
  }

  #link(flight: Flight<Reply>): void {
    const index = flight.hash & (this.#buckets.length - 1);
    flight.nextInBucket = this.#buckets[index];
    this.#buckets[index] = flight;
  }

  #grow(): void {
    const before = this.#buckets;
    this.#buckets = emptyBuckets(2 * before.length);
    for (let flight of before) {
      while (flight) {
        const next: Flight<Reply> | undefined = flight.nextInBucket;
        this.#link(flight);
        flight = next;
      }
    }
  }
}

function emptyBuckets<Reply>(count: number): (Flight<Reply> | undefined)[] {
  return Array.from({ length: count }, () => undefined);
}

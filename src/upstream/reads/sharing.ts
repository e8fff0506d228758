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

  /**
   * @param method - of the call
   * @param key - equal for calls of the method that ask the same; empty: the call is not shared
   * @param begunAt - when it began, on the scale of `Callers.tick`
   * @param minHead - lowest block its answer is from; -1: any
   */
  constructor(
    private readonly flights: Flights<Reply>,
    readonly method: string,
    readonly key: string,
    readonly begunAt: number,
    readonly lowestHead: number,
    pilot: Passenger<Reply>,
  ) {
    this.#pilot = pilot;
  }

  /** Ends the call, which nobody waits for any longer. */
  protected abstract cancel(): void;

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

/** Methods that are kept when none of their calls is under way; callers may make up names. */
const MAX_METHODS = 256;
const MAX_KEPT_LENGTH = 64;

/** Identical reads under way, which share one upstream call. Holds only calls under way. */
export class Flights<Reply> {
  /** By method and key: both as one text would have to be made for each call. */
  readonly #byMethod = new Map<string, Map<string, Flight<Reply>>>();

  find(method: string, key: string): Flight<Reply> | undefined {
    return this.#byMethod.get(method)?.get(key);
  }

  /** Whoever comes later needs the later one; an earlier one goes on for those aboard. */
  announce(flight: Flight<Reply>): void {
    let ofMethod = this.#byMethod.get(flight.method);
    if (!ofMethod) this.#byMethod.set(flight.method, (ofMethod = new Map()));
    ofMethod.set(flight.key, flight);
  }

  forget(flight: Flight<Reply>): void {
    const { method, key } = flight;
    if (key === "") return;
    const ofMethod = this.#byMethod.get(method);
    if (ofMethod?.get(key) === flight) ofMethod.delete(key);
    if (ofMethod?.size !== 0) return;
    const isKept = method.length <= MAX_KEPT_LENGTH && this.#byMethod.size <= MAX_METHODS;
    if (!isKept) this.#byMethod.delete(method);
  }
}

import { type Random, seededRandom } from "../../lib/clock.ts";
import type { Fault, FaultKind } from "./model.ts";

interface Scripted {
  readonly fault: Fault;
  readonly endsAt: number;
  hits: number;
  /** Times of the requests a rate cap let through, oldest first; bounded by the cap. */
  readonly passed: number[];
}

/** The fault of one kind, typed. */
export type FaultOf<Kind extends FaultKind> = Extract<Fault, { kind: Kind }>;

/** The faults that hit one request, at most one of each kind. */
export class Hits {
  readonly #byKind = new Map<FaultKind, Fault>();

  constructor(faults: readonly Fault[]) {
    for (const fault of faults) {
      if (!this.#byKind.has(fault.kind)) this.#byKind.set(fault.kind, fault);
    }
  }

  get<Kind extends FaultKind>(kind: Kind): FaultOf<Kind> | undefined {
    return this.#byKind.get(kind) as FaultOf<Kind> | undefined;
  }

  kinds(): readonly FaultKind[] {
    return [...this.#byKind.keys()];
  }
}

/** What a node is told to do wrong, and how often it did. */
export class FaultScript {
  #scripted: Scripted[] = [];
  #random: Random = seededRandom(1);

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Replaces everything; the random sequence starts anew. */
  set(faults: readonly Fault[], seed = 1): void {
    this.#random = seededRandom(seed);
    this.#scripted = faults.map((fault) => ({
      fault,
      endsAt: fault.forMs === undefined ? Infinity : this.now() + fault.forMs,
      hits: 0,
      passed: [],
    }));
  }

  /** Faults that can still hit, with the number of their hits so far. */
  active(): { fault: Fault; hits: number }[] {
    return this.#live().map(({ fault, hits }) => ({ fault, hits }));
  }

  /** Decides which faults hit a request with these methods, and counts them. */
  hit(methods: readonly string[]): Hits {
    if (this.#scripted.length === 0) return NO_HITS;
    const now = this.now();
    const hits = this.#live().filter((scripted) => this.#matches(scripted, methods, now));
    for (const scripted of hits) scripted.hits++;
    return new Hits(hits.map(({ fault }) => fault));
  }

  /** A random number in [0, 1) of the script's sequence. */
  random(): number {
    return this.#random();
  }

  #live(): Scripted[] {
    const now = this.now();
    return this.#scripted.filter(
      ({ fault, endsAt, hits }) => now < endsAt && hits < (fault.times ?? Infinity),
    );
  }

  #matches(scripted: Scripted, methods: readonly string[], now: number): boolean {
    const { fault } = scripted;
    if (fault.kind === "down") return false;
    if (fault.methods && !methods.some((method) => fault.methods?.includes(method))) return false;
    if (fault.kind === "rateCap" && this.#withinCap(fault, scripted.passed, now)) return false;
    return fault.probability === undefined || this.#random() < fault.probability;
  }

  #withinCap(fault: FaultOf<"rateCap">, passed: number[], now: number): boolean {
    while (passed[0] !== undefined && passed[0] <= now - fault.windowMs) passed.shift();
    if (passed.length >= fault.requests) return false;
    passed.push(now);
    return true;
  }
}

const NO_HITS = new Hits([]);

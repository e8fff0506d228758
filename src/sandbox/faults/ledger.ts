import type { FaultKind } from "./model.ts";

/** What reached a node. */
export interface LedgerCounts {
  /** HTTP requests. */
  readonly requests: number;
  /** JSON-RPC calls; a batch counts each of its items. */
  readonly calls: number;
  readonly methods: Readonly<Record<string, number>>;
  /** Requests hit, by kind of fault. */
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>;
  readonly inFlight: number;
  readonly maxInFlight: number;
}

/** Methods counted by name; more than a node has. The rest count as `other`. */
const MAX_METHODS = 256;

/** Counts every request a node received, so that tests can assert what a caller caused. */
export class Ledger {
  #requests = 0;
  #calls = 0;
  #inFlight = 0;
  #maxInFlight = 0;
  readonly #methods = new Map<string, number>();
  readonly #faults = new Map<FaultKind, number>();

  /** Records a request; the returned function records its end. */
  begin(methods: readonly string[], faults: readonly FaultKind[]): () => void {
    this.#requests++;
    this.#calls += methods.length;
    this.#inFlight++;
    this.#maxInFlight = Math.max(this.#maxInFlight, this.#inFlight);
    for (const method of methods) this.#countMethod(method);
    for (const kind of faults) this.#faults.set(kind, (this.#faults.get(kind) ?? 0) + 1);
    return () => {
      this.#inFlight--;
    };
  }

  counts(): LedgerCounts {
    return {
      requests: this.#requests,
      calls: this.#calls,
      methods: Object.fromEntries(this.#methods),
      faults: Object.fromEntries(this.#faults),
      inFlight: this.#inFlight,
      maxInFlight: this.#maxInFlight,
    };
  }

  /** Forgets everything but the requests under way. */
  reset(): void {
    this.#requests = 0;
    this.#calls = 0;
    this.#maxInFlight = this.#inFlight;
    this.#methods.clear();
    this.#faults.clear();
  }

  #countMethod(method: string): void {
    const known = this.#methods.has(method) || this.#methods.size < MAX_METHODS;
    const name = known ? method : "other";
    this.#methods.set(name, (this.#methods.get(name) ?? 0) + 1);
  }
}

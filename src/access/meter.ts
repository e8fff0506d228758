import type { Awaitable, UsageRow, UsageStore, UsageSum } from "../db/index.ts";
import type { Clock } from "../lib/clock.ts";
import { createAllowances, type Reservation, spentThisMonth } from "./allowance.ts";
import type { ApiKey } from "./keys.ts";
import type { OperationId } from "./operations.ts";

const HOUR_MS = 3_600_000;

/** What an answer costs, and whom. */
export interface Charge {
  readonly keyId: string;
  readonly operation: OperationId;
  /** undefined: the operation has no chain. */
  readonly chainId: number | undefined;
  readonly requests: number;
  readonly cu: number;
}

/** Told once that a charge is in the database, or why it could not be written. */
export interface ChargeTarget {
  /** Must not throw. @param error - undefined when all is well */
  charged(error: unknown): void;
}

/** Charges compute units and answers what was charged. */
export interface Meter {
  /**
   * Holds units of the key's monthly allowance.
   * @returns undefined when the allowance cannot cover them
   */
  reserve(key: ApiKey, cu: number): Awaitable<Reservation | undefined>;
  /** Lets other replicas have what this one set aside of allowances and does not need. */
  giveBack(): Promise<void>;
  /** Resolves when the charge is in the database; rejects when it could not be written. */
  charge(charge: Charge): Promise<void>;
  /** `charge` without a promise, which costs as much as the rest of it. */
  enter(charge: Charge, target: ChargeTarget): void;
  /** What a key was charged from `from` to `to`, ms since the epoch, by whole hours (UTC). */
  usage(keyId: string, from: number, to: number): Promise<readonly UsageSum[]>;
  /** Units charged in the current calendar month (UTC). */
  monthCu(keyId: string): Promise<number>;
}

/**
 * The meter. All charges of one turn of the event loop are committed together, so a commit costs
 * each answer little, and no answer leaves before its charge is in the database's log.
 */
export function createMeter(store: UsageStore, clock: Clock): Meter {
  let pending: Batch | undefined;
  /** One that was settled and can be used again. */
  let spare: Batch | undefined;
  let isCommitting = false;

  const commit = async () => {
    isCommitting = true;
    const batch = pending;
    pending = undefined;
    let failure: unknown;
    try {
      const adding = batch && store.add(batch.rows.values(), clock.now());
      if (adding instanceof Promise) await adding;
    } catch (error) {
      failure = error;
    }
    isCommitting = false;
    // Charges that came in during a slow commit are next.
    if (pending) setImmediate(commit);
    batch?.settle(failure);
    spare = batch;
  };

  const enter = (charge: Charge, target: ChargeTarget) => {
    if (!pending) {
      pending = spare ?? new Batch();
      spare = undefined;
      pending.hour = Math.floor(clock.now() / HOUR_MS);
      if (!isCommitting) setImmediate(commit);
    }
    pending.add(charge, target);
  };

  return {
    ...createAllowances(store, clock),
    enter,
    charge: (charge) =>
      new Promise((resolve, reject) => {
        const charged = (error: unknown) => (error === undefined ? resolve() : reject(error));
        enter(charge, { charged });
      }),
    usage: async (keyId, from, to) =>
      store.sums(keyId, Math.floor(from / HOUR_MS), Math.ceil(to / HOUR_MS)),
    monthCu: (keyId) => spentThisMonth(store, keyId, clock.now()),
  };
}

/** A row of the ledger while charges are added up in it. */
type OpenRow = { -readonly [Field in keyof UsageRow]: UsageRow[Field] };

/** The charges of one turn. */
class Batch {
  /** Sums, so bounded by keys × operations × chains of one turn. */
  readonly rows = new Map<string, OpenRow>();
  readonly #waiting: ChargeTarget[] = [];
  /** Most charges of a turn go where the one before went. */
  #last: OpenRow | undefined;
  /** In which they are entered, since the epoch. */
  hour = 0;

  add(charge: Charge, target: ChargeTarget): void {
    const row = this.#row(charge);
    row.requests += charge.requests;
    row.cu += charge.cu;
    this.#waiting.push(target);
  }

  /** Tells all who wait, and is empty again. */
  settle(error?: unknown): void {
    for (const target of this.#waiting) target.charged(error);
    this.#waiting.length = 0;
    this.rows.clear();
    this.#last = undefined;
  }

  #row({ keyId, operation, chainId = 0 }: Charge): OpenRow {
    const last = this.#last;
    const isSame = last?.keyId === keyId && last.operation === operation;
    if (isSame && last.chainId === chainId) return last;
    const { hour } = this;
    const id = `${keyId} ${operation} ${chainId}`;
    const row = this.rows.get(id) ?? { keyId, operation, chainId, hour, requests: 0, cu: 0 };
    this.rows.set(id, row);
    this.#last = row;
    return row;
  }
}

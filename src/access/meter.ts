import type { UsageRow, UsageStore, UsageSum } from "../db/index.ts";
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

/** Charges compute units and answers what was charged. */
export interface Meter {
  /**
   * Holds units of the key's monthly allowance.
   * @returns undefined when the allowance cannot cover them
   */
  reserve(key: ApiKey, cu: number): Promise<Reservation | undefined>;
  /** Lets other replicas have what this one set aside of allowances and does not need. */
  giveBack(): Promise<void>;
  /** Resolves when the charge is in the database; rejects when it could not be written. */
  charge(charge: Charge): Promise<void>;
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
  let isCommitting = false;

  const commit = async () => {
    isCommitting = true;
    // Charges that come in during a slow commit gather in the next batch.
    while (pending) {
      const batch = pending;
      pending = undefined;
      try {
        await store.add(batch.rows.values(), clock.now());
        batch.done.resolve();
      } catch (error) {
        batch.done.reject(error);
      }
    }
    isCommitting = false;
  };

  return {
    ...createAllowances(store, clock),
    charge(charge) {
      if (!pending) {
        pending = { rows: new Map(), done: Promise.withResolvers() };
        if (!isCommitting) setImmediate(commit);
      }
      addTo(pending.rows, charge, Math.floor(clock.now() / HOUR_MS));
      return pending.done.promise;
    },
    usage: async (keyId, from, to) =>
      store.sums(keyId, Math.floor(from / HOUR_MS), Math.ceil(to / HOUR_MS)),
    monthCu: (keyId) => spentThisMonth(store, keyId, clock.now()),
  };
}

interface Batch {
  /** Sums, so bounded by keys × operations × chains of one turn. */
  readonly rows: Map<string, UsageRow>;
  readonly done: PromiseWithResolvers<void>;
}

function addTo(rows: Batch["rows"], charge: Charge, hour: number): void {
  const { keyId, operation, chainId = 0 } = charge;
  const id = `${keyId} ${operation} ${chainId} ${hour}`;
  const sum = rows.get(id);
  rows.set(id, {
    keyId,
    operation,
    chainId,
    hour,
    requests: (sum?.requests ?? 0) + charge.requests,
    cu: (sum?.cu ?? 0) + charge.cu,
  });
}

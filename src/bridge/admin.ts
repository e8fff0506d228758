import type {
  BridgeStore,
  StoredTransaction,
  StoredTransfer,
  TransferEventEntry,
} from "../db/index.ts";
import type { Clock } from "../lib/clock.ts";
import { ApiError } from "../lib/errors.ts";
import { isFinal, type TransferState, transferStates } from "./transition.ts";

/** A transfer with everything that is known of how it went. */
export interface TransferRecord {
  readonly transfer: StoredTransfer;
  /** Oldest first. */
  readonly transactions: readonly StoredTransaction[];
  /** Oldest first. */
  readonly events: readonly TransferEventEntry[];
}

/** What an operator does with transfers. */
export interface BridgeAdmin {
  /** Newest first. @throws ApiError `INVALID_FIELD` for a state there is not */
  list(page: { state?: string; limit: number }): Promise<readonly StoredTransfer[]>;
  /** Number of transfers per state; states without any are left out. */
  counts(): Promise<Readonly<Record<string, number>>>;
  /** @param id - id or transaction hash. @throws ApiError `TRANSFER_NOT_FOUND` */
  show(id: string): Promise<TransferRecord>;
  /**
   * Has the worker look at an unfinished transfer at once.
   * @param id - id or transaction hash
   * @returns its id
   * @throws ApiError `TRANSFER_NOT_FOUND`, `TRANSFER_IS_FINAL`
   */
  resume(id: string): Promise<string>;
}

/** The operator's hand on transfers; the worker that runs beside it does the work. */
export function createBridgeAdmin(store: BridgeStore, clock: Clock): BridgeAdmin {
  const find = async (id: string): Promise<StoredTransfer> => {
    const transfer = (await store.find(id)) ?? (await store.findByHash(id));
    if (!transfer) throw new ApiError("TRANSFER_NOT_FOUND", `No transfer has the id or hash ${id}`);
    return transfer;
  };
  return {
    async list(page) {
      if (page.state !== undefined && !transferStates.some((known) => known === page.state)) {
        const states = transferStates.join(", ");
        throw new ApiError("INVALID_FIELD", `Invalid field: state (one of ${states})`);
      }
      return store.list(page);
    },
    async counts() {
      const counted = await store.counts();
      return Object.fromEntries(counted.map(({ state, count }) => [state, count]));
    },
    async show(id) {
      const transfer = await find(id);
      const events = await store.events(transfer.id);
      const transactions = await store.transactions(transfer.id);
      return { transfer, transactions, events };
    },
    async resume(id) {
      const transfer = await find(id);
      const { state } = transfer;
      if (isFinal(state as TransferState)) {
        const message = `The transfer is ${state}; there is nothing to resume`;
        throw new ApiError("TRANSFER_IS_FINAL", message);
      }
      const now = clock.now();
      await store.note(transfer.id, { nextCheckAt: now, attention: null }, now);
      return transfer.id;
    },
  };
}

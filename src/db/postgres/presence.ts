import type { SQL } from "bun";
import { openPool, withinDeadline } from "./connection.ts";

/** Namespaces of this project's session locks. */
const SLOT_LOCKS = 0x4341_5501;
const LEASE_LOCKS = 0x4341_5502;
/** Slot of a process that takes no part, such as the command line. */
export const NO_SLOT = -1;
/** Processes on one database; a slot is looked for below it. */
const MAX_SLOTS = 1_024;

/**
 * Who is there. Each replica holds the session lock of a slot number of its own on a connection it
 * uses for nothing else, so Postgres itself notices when a replica dies: at once when its process
 * ended, within seconds by keep-alive when its machine did.
 */
export class Presence {
  readonly #session: SQL;
  #joined = false;
  #slot = NO_SLOT;
  #epoch = 0;
  #live: readonly number[] = [];
  #refreshing: Promise<void> | undefined;

  /** @param onSlot - called with a slot that was just taken, before it is used */
  constructor(
    url: string,
    private readonly onSlot: (slot: number) => Promise<void>,
  ) {
    this.#session = openPool(url, 1);
  }

  /** This process's slot; rows it alone writes are marked with it. */
  get slot(): number {
    return this.#slot;
  }

  /** Differs after the slot was lost, even for a moment. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Slots of the replicas that are alive, as of the last look. */
  get live(): readonly number[] {
    return this.#live;
  }

  /** Takes a slot, and from now on keeps one. */
  async join(): Promise<void> {
    this.#joined = true;
    await this.refresh();
  }

  /** Looks who is there, and takes a slot again when the connection that held it was lost. */
  refresh(): Promise<void> {
    if (!this.#joined) return Promise.resolve();
    this.#refreshing ??= withinDeadline(() => this.#look()).finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #look(): Promise<void> {
    let held = await this.#heldSlots();
    if (!held.some(({ slot, isOwn }) => isOwn && slot === this.#slot)) {
      await this.#takeSlot(new Set(held.map(({ slot }) => slot)));
      held = await this.#heldSlots();
    }
    this.#live = held.map(({ slot }) => slot).sort((a, b) => a - b);
  }

  /** Takes a named lock for this process, or keeps it. @returns false while another holds it */
  async hold(name: string): Promise<boolean> {
    const [row] = await withinDeadline(
      () => this.#session`
      SELECT CASE WHEN EXISTS (
        SELECT FROM pg_locks
        WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND classid = ${LEASE_LOCKS}
          AND objid = (hashtext(${name})::bigint & 4294967295)::oid
      ) THEN true ELSE pg_try_advisory_lock(${LEASE_LOCKS}, hashtext(${name})) END AS held`,
    );
    return row.held;
  }

  async release(name: string): Promise<void> {
    await withinDeadline(
      () => this.#session`SELECT pg_advisory_unlock(${LEASE_LOCKS}, hashtext(${name}))`,
    );
  }

  close(): void {
    void this.#session.close({ timeout: 0 });
  }

  async #heldSlots(): Promise<{ slot: number; isOwn: boolean }[]> {
    const rows: { slot: string; own: boolean }[] = await this.#session`
      SELECT objid::bigint AS slot, pid = pg_backend_pid() AS own FROM pg_locks
      WHERE locktype = 'advisory' AND classid = ${SLOT_LOCKS} AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    return rows.map(({ slot, own }) => ({ slot: Number(slot), isOwn: own }));
  }

  async #takeSlot(taken: ReadonlySet<number>): Promise<void> {
    for (let slot = 0; slot < MAX_SLOTS; slot++) {
      if (taken.has(slot)) continue;
      const [row] = await this.#session`SELECT pg_try_advisory_lock(${SLOT_LOCKS}, ${slot}) AS won`;
      if (!row.won) continue;
      await this.onSlot(slot);
      this.#slot = slot;
      this.#epoch++;
      return;
    }
    throw new Error(`more than ${MAX_SLOTS} replicas on one database`);
  }
}

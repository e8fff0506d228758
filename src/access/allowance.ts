import type { UsageStore } from "../db/index.ts";
import type { Clock } from "../lib/clock.ts";
import { SingleFlight } from "../lib/singleFlight.ts";
import type { ApiKey } from "./keys.ts";

/** Compute units held for a request under way. */
export interface Reservation {
  /** Gives the units back, of which `chargedCu` were spent. The first call counts, only. */
  settle(chargedCu: number): void;
}

interface Account {
  monthStart: number;
  /** Charged this month. */
  spentCu: number;
  /** Held by requests under way. */
  heldCu: number;
}

const HOUR_MS = 3_600_000;
const MAX_IDLE_ACCOUNTS = 10_000;
const nothingHeld: Reservation = { settle() {} };

/** The calendar month (UTC) a time falls in: its first ms, and that of the next. */
export function monthOf(time: number): { start: number; end: number } {
  const date = new Date(time);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) };
}

/** Units charged to a key in the calendar month `now` falls in. */
export async function spentThisMonth(
  store: UsageStore,
  keyId: string,
  now: number,
): Promise<number> {
  const { start, end } = monthOf(now);
  return store.totalCu(keyId, start / HOUR_MS, end / HOUR_MS);
}

/**
 * Monthly allowances. Units are held before the work and spent after it, so any number of
 * concurrent requests together never spend more than the allowance.
 */
export function createAllowances(store: UsageStore, clock: Clock) {
  const accounts = new Map<string, Account>();
  const loads = new SingleFlight<Account>();

  const load = async (keyId: string): Promise<Account> => {
    const now = clock.now();
    const spentCu = await spentThisMonth(store, keyId, now);
    const monthStart = monthOf(now).start;
    const known = accounts.get(keyId);
    if (known) return Object.assign(known, { monthStart, spentCu });
    const account = { monthStart, spentCu, heldCu: 0 };
    accounts.set(keyId, account);
    evictIdle(accounts);
    return account;
  };

  /**
   * Holds units of a key's allowance.
   * @returns undefined when the allowance cannot cover them
   */
  return async (key: ApiKey, cu: number): Promise<Reservation | undefined> => {
    if (key.cuAllowance === null || cu === 0) return nothingHeld;
    let account = accounts.get(key.id);
    if (account?.monthStart !== monthOf(clock.now()).start) {
      account = await loads.run(key.id, () => load(key.id));
    }
    if (account.spentCu + account.heldCu + cu > key.cuAllowance) return undefined;
    return hold(account, cu);
  };
}

function hold(account: Account, cu: number): Reservation {
  account.heldCu += cu;
  let isSettled = false;
  return {
    settle(chargedCu) {
      if (isSettled) return;
      isSettled = true;
      account.heldCu -= cu;
      account.spentCu += chargedCu;
    },
  };
}

/** Forgets the oldest accounts nothing is held of; they are read from the ledger when next used. */
function evictIdle(accounts: Map<string, Account>): void {
  let excess = accounts.size - MAX_IDLE_ACCOUNTS;
  if (excess <= 0) return;
  for (const [keyId, account] of accounts) {
    if (account.heldCu > 0) continue;
    accounts.delete(keyId);
    if (--excess <= 0) return;
  }
}

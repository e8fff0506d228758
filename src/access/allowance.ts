import type { Awaitable, UsageStore } from "../db/index.ts";
import type { Clock } from "../lib/clock.ts";
import { SingleFlight } from "../lib/singleFlight.ts";
import type { ApiKey } from "./keys.ts";

/** Compute units held for a request under way. */
export interface Reservation {
  /** Gives the units back, of which `chargedCu` were spent. The first call counts, only. */
  settle(chargedCu: number): void;
}

/** Monthly allowances, as far as this process may charge them. */
export interface Allowances {
  /**
   * Holds units of a key's allowance; at once, where this process's part of it covers them.
   * @returns undefined when the allowance cannot cover them
   */
  reserve(key: ApiKey, cu: number): Awaitable<Reservation | undefined>;
  /** Lets other replicas have what this one set aside and has not needed for a while. */
  giveBack(): Promise<void>;
}

/** This process's part of a key's allowance in a month. */
interface Account {
  readonly monthStart: number;
  readonly monthEnd: number;
  readonly allowanceCu: number;
  /** Of which shares this one is. */
  readonly epoch: number;
  /** Charged this month. */
  spentCu: number;
  /** Held by requests under way. */
  heldCu: number;
  /** Most that both may come to. */
  ceilingCu: number;
  usedAt: number;
  /** So much, or more, was asked for in vain a moment ago. */
  refused: { readonly cu: number; readonly until: number } | undefined;
}

const HOUR_MS = 3_600_000;
const MAX_IDLE_ACCOUNTS = 100_000;
/** Shares unused for this long are given back, and an exhausted allowance is asked for again. */
const IDLE_MS = 1_000;
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
  const { fromHour, toHour } = hoursOf(now);
  return store.totalCu(keyId, fromHour, toHour);
}

function hoursOf(now: number) {
  const { start, end } = monthOf(now);
  return { fromHour: start / HOUR_MS, toHour: end / HOUR_MS };
}

/**
 * Monthly allowances. Units are held before the work and spent after it, so any number of
 * concurrent requests together never spend more than the allowance; over several replicas, because
 * each charges within a share of its own.
 */
export function createAllowances(store: UsageStore, clock: Clock): Allowances {
  const accounts = new Map<string, Account>();
  const loads = new SingleFlight<Account>();

  const isCurrent = (account: Account, key: ApiKey, now: number) =>
    now >= account.monthStart &&
    now < account.monthEnd &&
    account.allowanceCu === key.cuAllowance &&
    account.epoch === store.allotmentEpoch();

  /** Asks for a share that covers `wantedCu`, in place of the one there is. */
  const load = async (keyId: string, allowanceCu: number, wantedCu: number): Promise<Account> => {
    const now = clock.now();
    const { start: monthStart, end: monthEnd } = monthOf(now);
    const epoch = store.allotmentEpoch();
    const before = accounts.get(keyId);
    const isSame = before?.monthStart === monthStart && before.epoch === epoch;
    const ownCu = before && isSame ? before.spentCu + before.heldCu : 0;
    const share = { keyId, allowanceCu, ownCu, wantedCu, ...hoursOf(now) };
    const { spentCu, ceilingCu } = await store.allot(share);
    const isGranted = ceilingCu >= Math.max(spentCu, ownCu) + wantedCu;
    const account: Account = Object.assign(before ?? { heldCu: 0, usedAt: now }, {
      monthStart,
      monthEnd,
      allowanceCu,
      epoch,
      spentCu: before && isSame ? before.spentCu : spentCu,
      ceilingCu,
      refused: isGranted ? undefined : { cu: wantedCu, until: now + IDLE_MS },
    });
    accounts.set(keyId, account);
    evictIdle(accounts);
    return account;
  };

  const isRefused = ({ refused }: Account, cu: number) =>
    refused !== undefined && cu >= refused.cu && clock.now() < refused.until;
  const covers = ({ spentCu, heldCu, ceilingCu }: Account, cu: number) =>
    spentCu + heldCu + cu <= ceilingCu;

  /** Holds units of the part there is. @returns undefined when it does not cover them */
  const holdNow = (account: Account | undefined, key: ApiKey, cu: number) => {
    const now = clock.now();
    if (!account || !isCurrent(account, key, now) || !covers(account, cu)) return undefined;
    account.usedAt = now;
    return new Hold(account, cu);
  };

  const holdLater = async (key: ApiKey, allowanceCu: number, cu: number) => {
    let account = accounts.get(key.id);
    // A share may be used up by others who waited for it too; there is more until one is refused.
    for (;;) {
      const held = holdNow(account, key, cu);
      if (held) return held;
      const isKnown = account && isCurrent(account, key, clock.now());
      if (account && isKnown && isRefused(account, cu)) return undefined;
      account = await loads.run(key.id, () => load(key.id, allowanceCu, cu));
    }
  };

  return {
    reserve(key, cu) {
      const { cuAllowance } = key;
      if (cuAllowance === null || cu === 0) return nothingHeld;
      return holdNow(accounts.get(key.id), key, cu) ?? holdLater(key, cuAllowance, cu);
    },
    async giveBack() {
      const idleSince = clock.now() - IDLE_MS;
      for (const [keyId, account] of accounts) {
        const { spentCu, heldCu, ceilingCu, usedAt, allowanceCu } = account;
        const isSpare = usedAt < idleSince && ceilingCu > spentCu + heldCu;
        if (isSpare) await loads.run(keyId, () => load(keyId, allowanceCu, 0));
      }
    },
  };
}

/** Units held of an account. */
class Hold implements Reservation {
  #isSettled = false;

  constructor(
    private readonly account: Account,
    private readonly cu: number,
  ) {
    account.heldCu += cu;
  }

  settle(chargedCu: number): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.account.heldCu -= this.cu;
    this.account.spentCu += chargedCu;
  }
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

import { monthOf } from "../../access/index.ts";
import type { KeyStore, StoredAccount, StoredInvitation, UsageStore } from "../../db/index.ts";
import type { Clock } from "../../lib/clock.ts";
import type { AccountService } from "../accounts.ts";
import { accountView } from "../accountView.ts";
import type { InvitationView, ManagedAccountView } from "../views.ts";

export interface AccountListOptions {
  readonly accounts: AccountService;
  readonly keys: KeyStore;
  readonly usage: UsageStore;
  readonly clock: Clock;
}

const HOUR_MS = 3_600_000;

/** Shows accounts with what they may do and what they did this month. */
export function createAccountViews({ accounts, keys, usage, clock }: AccountListOptions) {
  return async (account: StoredAccount): Promise<ManagedAccountView> => {
    const now = clock.now();
    const held = await keys.list(account.id);
    const { start, end } = monthOf(now);
    const hours = await usage.hourly(
      held.map(({ id }) => id),
      start / HOUR_MS,
      end / HOUR_MS,
    );
    const { scopes, maxKeys, maxWindowLimit } = account;
    return {
      ...accountView(account),
      own: { scopes, maxKeys, maxWindowLimit },
      bounds: accounts.boundsOf(account),
      keys: held.filter(
        ({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt ?? Infinity) > now,
      ).length,
      month: {
        requests: hours.reduce((total, { requests }) => total + requests, 0),
        cu: hours.reduce((total, { cu }) => total + cu, 0),
      },
    };
  };
}

/** An invitation as it is shown. */
export function invitationView(invitation: StoredInvitation, now: number): InvitationView {
  const { id, note, createdAt, expiresAt, accountId } = invitation;
  return { id, note, state: stateOf(invitation, now), createdAt, expiresAt, accountId };
}

function stateOf({ usedAt, revokedAt, expiresAt }: StoredInvitation, now: number) {
  if (usedAt !== null) return "used";
  if (revokedAt !== null) return "revoked";
  return expiresAt <= now ? "expired" : "open";
}

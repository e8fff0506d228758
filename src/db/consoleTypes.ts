import type { Awaitable } from "./awaitable.ts";
import type { AuditEntry } from "./types.ts";

/** Who may sign in to the console with a wallet. Times are ms since the epoch. */
export interface StoredAccount {
  readonly id: string;
  /** Wallet address in lower case. */
  readonly address: string;
  /** Scopes its keys may have; null: the service's default. */
  readonly scopes: readonly string[] | null;
  /** Keys it may have at a time; null: the service's default. */
  readonly maxKeys: number | null;
  /** Largest window limit of one of its keys; null: the service's default. */
  readonly maxWindowLimit: number | null;
  readonly createdAt: number;
  readonly lastSignInAt: number;
  /** Since when it may not sign in and its keys are refused. */
  readonly disabledAt: number | null;
}

/** What an operator changes about an account. */
export type AccountChanges = Partial<
  Pick<StoredAccount, "scopes" | "maxKeys" | "maxWindowLimit" | "disabledAt">
>;

/** Accounts of developers. Every change writes its audit line in the same transaction. */
export interface AccountStore {
  find(id: string): Awaitable<StoredAccount | undefined>;
  findByAddress(address: string): Awaitable<StoredAccount | undefined>;
  /** Newest first. */
  list(limit: number): Awaitable<readonly StoredAccount[]>;
  /**
   * Adds an account and uses up the invitation it came with.
   * @param invitationHash - undefined: none is needed
   * @returns false when the invitation is unknown, used, revoked or expired; nothing changed
   */
  insert(
    account: StoredAccount,
    invitationHash: string | undefined,
    entry: AuditEntry,
  ): Awaitable<boolean>;
  /** Notes a sign-in. */
  touch(id: string, at: number): Awaitable<void>;
  /** Changes an account; counts as a change of its keys. @returns false when it is unknown */
  update(id: string, changes: AccountChanges, entry: AuditEntry): Awaitable<boolean>;
}

/** Leave to sign up, for one wallet. Times are ms since the epoch. */
export interface StoredInvitation {
  readonly id: string;
  readonly codeHash: string;
  readonly note: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly accountId: string | null;
  readonly usedAt: number | null;
  readonly revokedAt: number | null;
}

/** Invitations. Every change writes its audit line in the same transaction. */
export interface InvitationStore {
  /** Newest first. */
  list(limit: number): Awaitable<readonly StoredInvitation[]>;
  insert(invitation: StoredInvitation, entry: AuditEntry): Awaitable<void>;
  /** @returns false when it is unknown, used or revoked */
  revoke(id: string, at: number, entry: AuditEntry): Awaitable<boolean>;
}

/** A message given out to be signed by a wallet. */
export interface StoredChallenge {
  readonly nonce: string;
  readonly message: string;
  readonly expiresAt: number;
}

/** An open console session. Times are ms since the epoch. */
export interface StoredSession {
  readonly id: string;
  /** Null: the operator's. */
  readonly accountId: string | null;
  /** What the operator's session was opened with; null for an account's. */
  readonly credential: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** What signing in to the console needs to remember; all of it bounded and short-lived. */
export interface SignInStore {
  /** Keeps a challenge; drops expired ones and the oldest beyond a bound. */
  addChallenge(challenge: StoredChallenge, now: number): Awaitable<void>;
  /** Gives a challenge out once. @returns undefined when unknown, taken or expired */
  takeChallenge(nonce: string, now: number): Awaitable<StoredChallenge | undefined>;
  /**
   * Counts attempts in the subject's running window, which starts with its first attempt.
   * @param by - −1 takes one back
   * @returns attempts in the window, these included
   */
  countAttempts(subject: string, by: number, now: number, windowMs: number): Awaitable<number>;
  addSession(session: StoredSession): Awaitable<void>;
  /** @returns undefined when it has ended or expired */
  findSession(id: string, now: number): Awaitable<StoredSession | undefined>;
  endSession(id: string): Awaitable<void>;
  endSessionsOf(accountId: string): Awaitable<void>;
}

/** An error answer a key was given. */
export interface KeyErrorEntry {
  readonly keyId: string;
  /** Time in ms since the epoch. */
  readonly at: number;
  readonly requestId: string;
  /** Null: the request was no known operation. */
  readonly operation: string | null;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** `X-Error-Code`. */
  readonly code: string;
  readonly message: string;
}

/** What keys were last seen doing. Newer writes win; losing a second of it is no harm. */
export interface ActivityStore {
  /** Last uses that may wait to be stored; keys that are charged may be noted by their charges. */
  readonly maxWaitingUses: number;
  /**
   * Stores what was gathered. A key's time of last use never goes back; of its errors the newest
   * `maxErrorsPerKey` are kept.
   */
  save(
    lastUsed: Iterable<readonly [keyId: string, at: number]>,
    errors: readonly KeyErrorEntry[],
    maxErrorsPerKey: number,
  ): Awaitable<void>;
  /** By key id; keys never used are left out. */
  lastUsed(keyIds: readonly string[]): Awaitable<ReadonlyMap<string, number>>;
  /** Newest first. */
  errors(
    keyIds: readonly string[],
    limit: number,
  ): Awaitable<readonly (KeyErrorEntry & { readonly id: number })[]>;
}

import { createHash, randomBytes } from "node:crypto";
import { type Scope, scopes as knownScopes } from "../access/index.ts";
import type { Config, ConsoleConfig } from "../config/index.ts";
import type {
  AccountStore,
  AuditEntry,
  InvitationStore,
  SignInStore,
  StoredAccount,
  StoredInvitation,
} from "../db/index.ts";
import type { Clock } from "../lib/clock.ts";
import { ApiError } from "../lib/errors.ts";
import type { AccountChangesBody } from "./model.ts";

/** What an account may do, defaults filled in. */
export interface AccountBounds {
  readonly scopes: readonly Scope[];
  /** Keys that are neither revoked nor expired. */
  readonly maxKeys: number;
  /** Largest window limit of one of its keys. */
  readonly maxWindowLimit: number;
}

export interface AccountServiceOptions {
  readonly accounts: AccountStore;
  readonly invitations: InvitationStore;
  readonly signIn: SignInStore;
  readonly config: ConsoleConfig;
  readonly defaultWindowLimit: Config["access"]["defaultWindowLimit"];
  readonly clock: Clock;
}

/** Accounts of developers, and how they come about. */
export interface AccountService {
  boundsOf(account: StoredAccount): AccountBounds;
  /**
   * The account of a wallet, made now when there is none and one may be made.
   * @param wallet - as accounts are known by
   * @throws ApiError `ACCOUNT_DISABLED`, `SIGN_UP_CLOSED`, `INVITATION_NEEDED`
   */
  enter(wallet: string, invitation: string | undefined): Promise<StoredAccount>;
  list(): Promise<readonly StoredAccount[]>;
  /** Disabling also ends its sessions. @throws ApiError `UNKNOWN_ACCOUNT`, `INVALID_FIELD` */
  update(id: string, changes: AccountChangesBody, actor: string): Promise<StoredAccount>;
  invitations(): Promise<readonly StoredInvitation[]>;
  /** @returns the code, which is shown this once */
  invite(
    note: string,
    validDays: number,
    actor: string,
  ): Promise<{ invitation: StoredInvitation; code: string }>;
  /** @throws ApiError `UNKNOWN_INVITATION` */
  revokeInvitation(id: string, actor: string): Promise<void>;
}

const DAY_MS = 86_400_000;
const MAX_LISTED = 1_000;
const CODE_BYTES = 20;

export function createAccountService(options: AccountServiceOptions): AccountService {
  const { accounts, invitations, signIn, config, clock } = options;
  const defaultMaxWindowLimit = config.account.maxWindowLimit ?? options.defaultWindowLimit;

  const entry = (actor: string, action: string, subject: string, detail = {}): AuditEntry => ({
    at: clock.now(),
    actor,
    action,
    subject,
    detail,
  });

  const signUp = async (wallet: string, code: string | undefined): Promise<StoredAccount> => {
    if (config.signUp === "off") throw new ApiError("SIGN_UP_CLOSED");
    if (config.signUp === "invitation" && !code) throw new ApiError("INVITATION_NEEDED");
    const now = clock.now();
    const account: StoredAccount = {
      id: newId("acct"),
      address: wallet,
      scopes: null,
      maxKeys: null,
      maxWindowLimit: null,
      createdAt: now,
      lastSignInAt: now,
      disabledAt: null,
    };
    const invitation = config.signUp === "invitation" && code ? hashCode(code) : undefined;
    const line = entry(account.id, "account.create", account.id, { wallet });
    if (await accounts.insert(account, invitation, line)) return account;
    throw new ApiError("INVITATION_NEEDED");
  };

  return {
    boundsOf: ({ scopes, maxKeys, maxWindowLimit }) => ({
      scopes: knownScopes.filter((scope) => (scopes ?? config.account.scopes).includes(scope)),
      maxKeys: maxKeys ?? config.account.maxKeys,
      maxWindowLimit: maxWindowLimit ?? defaultMaxWindowLimit,
    }),
    async enter(wallet, invitation) {
      const known = await accounts.findByAddress(wallet);
      if (!known) return signUp(wallet, invitation);
      if (known.disabledAt !== null) throw new ApiError("ACCOUNT_DISABLED");
      await accounts.touch(known.id, clock.now());
      return known;
    },
    list: async () => accounts.list(MAX_LISTED),
    async update(id, { isDisabled, ...changes }, actor) {
      const unknown = changes.scopes?.find((scope) => !knownScopes.some((one) => one === scope));
      if (unknown !== undefined) throw new ApiError("INVALID_FIELD", `Unknown scope '${unknown}'`);
      const disabledAt = isDisabled ? clock.now() : null;
      const written = { ...changes, ...(isDisabled !== undefined && { disabledAt }) };
      const line = entry(actor, "account.update", id, written);
      if (Object.keys(written).length > 0 && !(await accounts.update(id, written, line))) {
        throw new ApiError("UNKNOWN_ACCOUNT");
      }
      if (isDisabled) await signIn.endSessionsOf(id);
      const account = await accounts.find(id);
      if (!account) throw new ApiError("UNKNOWN_ACCOUNT");
      return account;
    },
    invitations: async () => invitations.list(MAX_LISTED),
    async invite(note, validDays, actor) {
      const code = `inv_${randomBytes(CODE_BYTES).toString("hex")}`;
      const now = clock.now();
      const invitation: StoredInvitation = {
        id: newId("invitation"),
        codeHash: hashCode(code),
        note: note.trim(),
        createdAt: now,
        expiresAt: now + validDays * DAY_MS,
        accountId: null,
        usedAt: null,
        revokedAt: null,
      };
      const { expiresAt } = invitation;
      const detail = { note: invitation.note, expiresAt };
      await invitations.insert(
        invitation,
        entry(actor, "invitation.create", invitation.id, detail),
      );
      return { invitation, code };
    },
    async revokeInvitation(id, actor) {
      const line = entry(actor, "invitation.revoke", id);
      if (await invitations.revoke(id, clock.now(), line)) return;
      throw new ApiError("UNKNOWN_INVITATION");
    },
  };
}

function newId(prefix: string): string {
  return `${prefix}_${randomBytes(8).toString("hex")}`;
}

/** A code has 160 random bits, so a fast hash keeps it as well as a slow one. */
function hashCode(code: string): string {
  return createHash("sha256").update(code).digest("hex");
}

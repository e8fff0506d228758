import { randomBytes } from "node:crypto";
import type { Signer } from "../../access/index.ts";
import type { AccountStore, SignInStore, StoredSession } from "../../db/index.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Identity } from "../endpoint.ts";

export interface SessionsOptions {
  readonly store: SignInStore;
  readonly accounts: AccountStore;
  readonly signer: Signer;
  readonly clock: Clock;
  readonly sessionMs: number;
  /** Names the admin token in force; an operator's session holds as long as it. */
  readonly adminCredential: () => Promise<string | undefined>;
}

/** A session of the console and whose it is. */
export interface Session {
  readonly identity: Identity;
  /** Time in ms since the epoch. */
  readonly expiresAt: number;
}

/** Sessions of the console: a signed id in a cookie, everything else in the database. */
export interface Sessions {
  /** @returns the cookie's value */
  open(identity: Identity): Promise<string>;
  /** @returns undefined when the cookie is none of ours, or the session has ended */
  find(cookie: string): Promise<Session | undefined>;
  /** Ends a session, wherever its cookie may have got to. */
  end(cookie: string): Promise<void>;
}

const ID_BYTES = 16;

export function createSessions(options: SessionsOptions): Sessions {
  const { store, accounts, signer, clock, sessionMs, adminCredential } = options;

  const identify = async ({ accountId, credential }: StoredSession) => {
    if (accountId === null) {
      const isInForce = credential !== null && credential === (await adminCredential());
      return isInForce ? ({ role: "operator" } as const) : undefined;
    }
    const account = await accounts.find(accountId);
    const isOpen = account !== undefined && account.disabledAt === null;
    return isOpen ? ({ role: "developer", account } as const) : undefined;
  };

  return {
    async open(identity) {
      const id = randomBytes(ID_BYTES).toString("base64url");
      const now = clock.now();
      const isOperator = identity.role === "operator";
      await store.addSession({
        id,
        accountId: isOperator ? null : identity.account.id,
        credential: isOperator ? ((await adminCredential()) ?? null) : null,
        createdAt: now,
        expiresAt: now + sessionMs,
      });
      return signer.sign(id);
    },
    async find(cookie) {
      const id = signer.open(cookie);
      const session = id === undefined ? undefined : await store.findSession(id, clock.now());
      const identity = session && (await identify(session));
      return session && identity && { identity, expiresAt: session.expiresAt };
    },
    async end(cookie) {
      const id = signer.open(cookie);
      if (id !== undefined) await store.endSession(id);
    },
  };
}

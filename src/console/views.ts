import type { Scope } from "../access/operations.ts";
import type { SignUp } from "../config/console.ts";
import type { AuditEntry, KeyErrorEntry } from "../db/index.ts";
import type { UpstreamStatus } from "../upstream/types.ts";

/*
 * What the console's JSON routes answer with, as the page reads it. Times are ms since the epoch.
 */

/** `GET session`. */
export interface SessionView {
  readonly signUp: SignUp;
  /** Undefined: nobody is signed in. */
  readonly role?: "operator" | "developer";
  readonly account?: AccountView;
  readonly bounds?: BoundsView;
  readonly expiresAt?: number;
}

export interface BoundsView {
  readonly scopes: readonly Scope[];
  readonly environments: readonly ("test" | "live")[];
  /** Null: as many as wanted. */
  readonly maxKeys: number | null;
  readonly maxWindowLimit: number;
  readonly defaultWindowLimit: number;
}

export interface AccountView {
  readonly id: string;
  /** Checksummed. */
  readonly address: string;
  /** Chain of a contract wallet; null: a wallet with a key of its own. */
  readonly chainId: number | null;
  readonly createdAt: number;
  readonly lastSignInAt: number;
  readonly disabledAt: number | null;
}

/** `GET accounts`. */
export interface ManagedAccountView extends AccountView {
  /** As set for it; null: the default. */
  readonly own: {
    readonly scopes: readonly string[] | null;
    readonly maxKeys: number | null;
    readonly maxWindowLimit: number | null;
  };
  readonly bounds: {
    readonly scopes: readonly Scope[];
    readonly maxKeys: number;
    readonly maxWindowLimit: number;
  };
  /** Neither revoked nor expired. */
  readonly keys: number;
  /** Of the current calendar month (UTC). */
  readonly month: Totals;
}

export interface Totals {
  readonly requests: number;
  readonly cu: number;
}

/** `GET keys`. */
export interface KeyView {
  readonly id: string;
  readonly name: string;
  readonly environment: "test" | "live";
  readonly scopes: readonly Scope[];
  readonly state: "active" | "expired" | "revoked";
  /** Of the newest secret: prefix and last four. */
  readonly hint: string;
  /** Older secrets that still open the key. */
  readonly graces: readonly { readonly hint: string; readonly until: number }[];
  /** As set for it; null: the default. */
  readonly windowLimit: number | null;
  readonly cuAllowance: number | null;
  readonly expiresAt: number | null;
  readonly ipAllowList: readonly string[];
  /** USDC; null: the operator's bound alone. */
  readonly bridgePerTransfer: string | null;
  readonly bridgePerDay: string | null;
  readonly createdAt: number;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
  /** Null: the operator's. */
  readonly accountId: string | null;
  readonly window: { readonly limit: number; readonly remaining: number; readonly resetAt: number };
  /** Of the current calendar month (UTC). */
  readonly monthCu: number;
}

/** `POST keys` and `POST keys/:id/rotate`. */
export interface NewKeyView {
  readonly key: KeyView;
  /** Shown this once. */
  readonly secret: string;
}

/** `GET overview`. */
export interface OverviewView {
  readonly last24h: Totals;
  readonly month: Totals;
  /** Errors of the last 24 h, as far as they are kept. */
  readonly errors24h: number;
  readonly hours: readonly HourView[];
  readonly keys: readonly KeyView[];
  readonly chains: readonly ChainView[];
}

/** One hour's charges. */
export interface HourView {
  /** Begin of the hour. */
  readonly at: number;
  readonly operation: string;
  readonly requests: number;
  readonly cu: number;
}

/** How a chain can be reached. */
export interface ChainView {
  readonly chainId: number;
  readonly name: string;
  readonly state: "up" | "degraded" | "down" | "idle";
  readonly head: number | null;
  readonly nodes: number;
  readonly nodesUp: number;
}

/** `GET usage`. */
export interface UsageView {
  readonly from: number;
  readonly to: number;
  readonly total: Totals;
  readonly hours: readonly HourView[];
  readonly operations: readonly {
    readonly operation: string;
    readonly chainId: number | null;
    readonly chain: string | null;
    readonly requests: number;
    readonly cu: number;
  }[];
}

/** `GET errors`. */
export type ErrorView = KeyErrorEntry & { readonly id: number };

/** `GET upstreams`. */
export interface UpstreamView extends UpstreamStatus {
  readonly chain: string;
  /** Blocks behind the chain's highest known head; null: not known. */
  readonly lagBlocks: number | null;
}

/** `GET chains`: those with nodes, or `?all=true`. */
export interface ChainChoice {
  readonly chainId: number;
  readonly name: string;
  readonly tokens: readonly { readonly symbol: string; readonly decimals: number }[];
}

/** `GET prices`. */
export interface PricesView {
  readonly assets: readonly {
    readonly symbol: string;
    readonly usd: number;
    readonly spreadBps: number;
    readonly asOfMs: number;
    readonly sourceIds: readonly string[];
  }[];
  readonly sources: readonly {
    readonly id: string;
    readonly kind: string;
    readonly state: "new" | "answering" | "failing" | "resting";
    readonly answeredAtMs?: number;
    readonly failure?: string;
    readonly answers: number;
    readonly failures: number;
  }[];
}

/** `GET transfers`. */
export interface TransferView {
  readonly id: string;
  readonly keyId: string;
  readonly state: string;
  readonly fromChainId: number;
  readonly toChainId: number;
  readonly from: string;
  readonly to: string;
  /** USDC. */
  readonly amount: string;
  readonly maxFee: string;
  readonly feeExecuted: string | null;
  readonly recipient: string;
  readonly sender: string | null;
  readonly transactionHash: string | null;
  readonly mintHash: string | null;
  readonly delayReason: string | null;
  /** What an operator should look at. */
  readonly attention: string | null;
  readonly checks: number;
  readonly nextCheckAt: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** `GET transfers/:id`. */
export interface TransferDetailView extends TransferView {
  readonly transactions: readonly {
    readonly hash: string;
    readonly purpose: string;
    readonly chain: string;
    readonly nonce: number | null;
    readonly createdAt: number;
  }[];
  readonly events: readonly {
    readonly at: number;
    readonly event: string;
    readonly fromState: string | null;
    readonly toState: string;
    readonly detail: Readonly<Record<string, unknown>>;
  }[];
}

/** `GET invitations`. */
export interface InvitationView {
  readonly id: string;
  readonly note: string;
  readonly state: "open" | "used" | "expired" | "revoked";
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly accountId: string | null;
}

/** `GET audit`. */
export type AuditView = AuditEntry & { readonly id: number };

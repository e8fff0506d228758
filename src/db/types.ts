import type { Awaitable } from "./awaitable.ts";
import type { BridgeStore } from "./bridgeTypes.ts";
import type { AccountStore, ActivityStore, InvitationStore, SignInStore } from "./consoleTypes.ts";
import type { Peers } from "./peers.ts";

export type { Awaitable } from "./awaitable.ts";

/** A key as stored; times are ms since the epoch. */
export interface StoredKey {
  readonly id: string;
  readonly environment: "live" | "test";
  readonly name: string;
  readonly scopes: readonly string[];
  /** Requests per window; null: the service's default. */
  readonly windowLimit: number | null;
  /** Compute units per calendar month (UTC); null: no bound. */
  readonly cuAllowance: number | null;
  readonly expiresAt: number | null;
  /** CIDR blocks; empty: any address. */
  readonly ipAllowList: readonly string[];
  /** Most USDC of one bridge transfer, atomic; null: the operator's bound alone. */
  readonly bridgePerTransferAtomic: bigint | null;
  /** Most USDC that leaves in a day (UTC), fees included, atomic; null: the operator's bound alone. */
  readonly bridgePerDayAtomic: bigint | null;
  readonly createdAt: number;
  readonly revokedAt: number | null;
  /** Account it belongs to; null: the operator. */
  readonly accountId: string | null;
}

/** What may be changed of a key. */
export type KeyChanges = Partial<
  Pick<
    StoredKey,
    | "name"
    | "scopes"
    | "windowLimit"
    | "cuAllowance"
    | "expiresAt"
    | "ipAllowList"
    | "bridgePerTransferAtomic"
    | "bridgePerDayAtomic"
  >
>;

/** One secret of a key, as a keyed hash. */
export interface StoredSecret {
  readonly hash: string;
  readonly last4: string;
  readonly createdAt: number;
  /** End of the grace after a rotation; null: as long as the key. */
  readonly graceUntil: number | null;
}

/** One line of the audit log. */
export interface AuditEntry {
  readonly at: number;
  /** Who did it, such as `cli` or `console`. */
  readonly actor: string;
  /** What was done, such as `key.revoke`. */
  readonly action: string;
  /** Id of what it was done to. */
  readonly subject: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** API keys. Every change writes its audit line in the same transaction. */
export interface KeyStore {
  /** A number that differs after any process changed any key. Cheap enough for every request. */
  revision(): Awaitable<number>;
  /** The key a secret's hash opens, whatever its state. */
  findByHash(
    hash: string,
  ): Awaitable<{ key: StoredKey; secret: StoredSecret; isAccountDisabled: boolean } | undefined>;
  find(id: string): Awaitable<StoredKey | undefined>;
  /** Newest first. @param accountId - only keys of this account */
  list(accountId?: string): Awaitable<readonly StoredKey[]>;
  /** The secrets of some keys, or of all, newest first. */
  secrets(
    keyIds?: readonly string[],
  ): Awaitable<readonly (StoredSecret & { readonly keyId: string })[]>;
  /**
   * @param maxOfAccount - keys the key's account may have that are neither revoked nor expired
   * @returns false when it has that many; nothing changed
   */
  insert(
    key: StoredKey,
    secret: StoredSecret,
    entry: AuditEntry,
    maxOfAccount?: number,
  ): Awaitable<boolean>;
  /** @returns false when the key is unknown or revoked */
  update(id: string, changes: KeyChanges, entry: AuditEntry): Awaitable<boolean>;
  /** @returns false when the key is unknown or was revoked before */
  revoke(id: string, at: number, entry: AuditEntry): Awaitable<boolean>;
  /**
   * Adds a secret and lets the others end at `graceUntil`, or sooner where they already do.
   * @returns false when the key is unknown or revoked
   */
  rotate(
    id: string,
    secret: StoredSecret,
    graceUntil: number,
    entry: AuditEntry,
  ): Awaitable<boolean>;
}

/** A charge, or a sum of charges, of one key, operation, chain and hour. */
export interface UsageRow {
  readonly keyId: string;
  /** Hours since the epoch. */
  readonly hour: number;
  readonly operation: string;
  /** 0: the operation has no chain. */
  readonly chainId: number;
  readonly requests: number;
  readonly cu: number;
}

/** Sum over a span of hours. */
export interface UsageSum {
  readonly operation: string;
  readonly chainId: number;
  readonly requests: number;
  readonly cu: number;
}

/** Sum over one hour. */
export interface UsageHour {
  /** Hours since the epoch. */
  readonly hour: number;
  readonly operation: string;
  readonly requests: number;
  readonly cu: number;
}

/** What one process may charge of a key's allowance in a span of hours. */
export interface Allotment {
  /** What it has charged so far. */
  readonly spentCu: number;
  /** Up to where it may bring that. */
  readonly ceilingCu: number;
}

export interface AllotmentRequest {
  readonly keyId: string;
  /** The allowance is for hours `fromHour` ≤ h < `toHour`. */
  readonly fromHour: number;
  readonly toHour: number;
  readonly allowanceCu: number;
  /** What this process knows it has charged or holds; the rest of its last share is given back. */
  readonly ownCu: number;
  /** Least it wants to be able to charge beside that; 0: it only gives back. */
  readonly wantedCu: number;
}

/** The ledger of charges. */
export interface UsageStore {
  /**
   * Sets a share of a key's allowance aside for this process. The shares of all processes and what
   * was charged never exceed the allowance together.
   */
  allot(request: AllotmentRequest): Awaitable<Allotment>;
  /** Differs after this process's shares were lost, so that it must ask for them again. */
  allotmentEpoch(): number;
  /** Adds all rows in one transaction; they are durable when it returns. */
  add(rows: Iterable<UsageRow>): Awaitable<void>;
  /** Compute units a key was charged in hours `fromHour` ≤ h < `toHour`. */
  totalCu(keyId: string, fromHour: number, toHour: number): Awaitable<number>;
  /** Sums per operation and chain in hours `fromHour` ≤ h < `toHour`. */
  sums(keyId: string, fromHour: number, toHour: number): Awaitable<readonly UsageSum[]>;
  /** Sums of several keys per hour and operation in hours `fromHour` ≤ h < `toHour`, in order. */
  hourly(
    keyIds: readonly string[],
    fromHour: number,
    toHour: number,
  ): Awaitable<readonly UsageHour[]>;
}

/** The append-only audit log. */
export interface AuditStore {
  append(entry: AuditEntry): Awaitable<void>;
  /** Newest first; `beforeId` continues an earlier page. */
  list(page: {
    limit: number;
    beforeId?: number;
  }): Awaitable<readonly (AuditEntry & { readonly id: number })[]>;
}

/** Single values of the installation, such as the hash of the admin token. */
export interface SettingsStore {
  get(name: string): Awaitable<string | undefined>;
  set(name: string, value: string): Awaitable<void>;
  /** Stores the value unless there is one. @returns the value that stands now */
  setOnce(name: string, value: string): Awaitable<string>;
}

/** Limits of `eth_getLogs` one upstream has shown. */
export interface LogCap {
  readonly chainId: number;
  /** Name of the upstream: its host, never its full URL. */
  readonly upstream: string;
  /** Most blocks in one call; null: none known. */
  readonly maxBlocks: number | null;
  /** Most logs in one answer; null: none known. */
  readonly maxResults: number | null;
  /** Most blocks it has answered at once; null: none known. */
  readonly acceptedBlocks: number | null;
  /** Time in ms since the epoch. */
  readonly learnedAt: number;
}

/** What was learnt of upstreams' limits, kept across restarts. */
export interface LogCapStore {
  list(chainId: number): Awaitable<readonly LogCap[]>;
  /** Stores the newest knowledge of an upstream in place of the older. */
  save(cap: LogCap): Awaitable<void>;
}

/** An upstream that was added to a chain, or removed from it, while the service ran. */
export interface UpstreamChange {
  /** Names chain and URL without showing the URL. */
  readonly id: string;
  readonly chainId: number;
  readonly kind: "added" | "removed";
  /** The entry with its URL, encrypted; null for one that was removed. */
  readonly sealed: string | null;
  /** Time in ms since the epoch. */
  readonly changedAt: number;
}

/** Changes to the configured upstreams, applied again at each start. */
export interface UpstreamChangeStore {
  /** In the order they were made. */
  list(): Awaitable<readonly UpstreamChange[]>;
  /** Stores a change in place of an earlier one of the same upstream. */
  put(change: UpstreamChange): Awaitable<void>;
  /** Forgets the change of an upstream, which so is as configured. */
  drop(id: string): Awaitable<void>;
}

/** An open database. */
export interface Database {
  readonly keys: KeyStore;
  readonly usage: UsageStore;
  readonly audit: AuditStore;
  readonly settings: SettingsStore;
  readonly logCaps: LogCapStore;
  readonly upstreamChanges: UpstreamChangeStore;
  readonly bridge: BridgeStore;
  readonly accounts: AccountStore;
  readonly invitations: InvitationStore;
  readonly signIn: SignInStore;
  readonly activity: ActivityStore;
  readonly peers: Peers;
  /** Path of the database file; undefined when it is in memory or elsewhere. */
  readonly file: string | undefined;
  close(): void;
}

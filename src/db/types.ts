import type { Awaitable } from "./awaitable.ts";
import type { BridgeStore } from "./bridgeTypes.ts";

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
  readonly createdAt: number;
  readonly revokedAt: number | null;
}

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
  findByHash(hash: string): Awaitable<{ key: StoredKey; secret: StoredSecret } | undefined>;
  find(id: string): Awaitable<StoredKey | undefined>;
  /** Newest first. */
  list(): Awaitable<readonly StoredKey[]>;
  /** A key's secrets, newest first. */
  secrets(id: string): Awaitable<readonly StoredSecret[]>;
  insert(key: StoredKey, secret: StoredSecret, entry: AuditEntry): Awaitable<void>;
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

/** The ledger of charges. */
export interface UsageStore {
  /** Adds all rows in one transaction; they are durable when it returns. */
  add(rows: Iterable<UsageRow>): Awaitable<void>;
  /** Compute units a key was charged in hours `fromHour` ≤ h < `toHour`. */
  totalCu(keyId: string, fromHour: number, toHour: number): Awaitable<number>;
  /** Sums per operation and chain in hours `fromHour` ≤ h < `toHour`. */
  sums(keyId: string, fromHour: number, toHour: number): Awaitable<readonly UsageSum[]>;
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
  /** Path of the database file; undefined when it is in memory or elsewhere. */
  readonly file: string | undefined;
  close(): void;
}

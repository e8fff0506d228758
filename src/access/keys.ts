import { randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import type {
  AuditEntry,
  Awaitable,
  KeyChanges,
  KeyStore,
  StoredKey,
  StoredSecret,
} from "../db/index.ts";
import type { Clock } from "../lib/clock.ts";
import { generateKey, hashKey, KEY_LENGTH, type KeyEnvironment, parseKey } from "./key.ts";
import { checkChanges, grantsOf, isScope, KeyError } from "./keyRules.ts";
import type { Scope } from "./operations.ts";

/** Longest time an old secret may stay valid after a rotation. */
export const MAX_GRACE_MS = 7 * 86_400_000;

const MAX_CACHED_KEYS = 100_000;

/** A key as its holder and the operator see it. Times are ms since the epoch. */
export interface ApiKey {
  readonly id: string;
  readonly environment: KeyEnvironment;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Requests per window; null: the service's default; `UNLIMITED_WINDOW`: no limit. */
  readonly windowLimit: number | null;
  /** Compute units per calendar month (UTC); null: no bound. */
  readonly cuAllowance: number | null;
  readonly expiresAt: number | null;
  /** CIDR blocks the key may be used from; empty: anywhere. */
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

/** An API key with what may be shown of its secrets, newest first. */
export interface KeyDetails extends ApiKey {
  readonly secrets: readonly {
    readonly hint: string;
    readonly createdAt: number;
    readonly graceUntil: number | null;
  }[];
}

/** What a new key is to be; what is left out is not bounded. */
export type NewKey = KeyChanges & Pick<StoredKey, "environment" | "scopes">;

/** The account a new key is made for. */
export interface KeyOwner {
  readonly accountId: string;
  /** Keys it may have that are neither revoked nor expired. */
  readonly maxKeys: number;
}

/** A key its secret was shown to open, and until when it does, ms since the epoch. */
export interface VerifiedKey {
  readonly key: ApiKey;
  readonly usableUntil: number;
}

/**
 * A secret as a request brought it. Whoever keeps it for the next request that brings the same
 * saves its hash: it remembers what it opened, as of a revision of the keys.
 */
export class ShownKey {
  #opens: VerifiedKey | undefined;
  #revision = -1;

  constructor(readonly secret: string) {}

  /** What it opened when the keys were last at this revision. */
  openedAt(revision: number): VerifiedKey | undefined {
    return revision === this.#revision ? this.#opens : undefined;
  }

  remember(opens: VerifiedKey, revision: number): void {
    this.#opens = opens;
    this.#revision = revision;
  }
}

/** Issues, checks and ends API keys. */
export interface KeyService {
  /**
   * The key a presented secret opens now.
   * @returns undefined when it is malformed, unknown, revoked, expired or past its grace, or when
   *   its account is disabled
   */
  verify(secret: string): Awaitable<ApiKey | undefined>;
  /** `verify`, with what was found out remembered in the secret itself. */
  verifyShown(shown: ShownKey): Awaitable<ApiKey | undefined>;
  /** @returns the key and its secret, which is shown this once. @throws KeyError */
  create(input: NewKey, actor: string, owner?: KeyOwner): Promise<{ key: ApiKey; secret: string }>;
  /** All keys, or those of one account, newest first. */
  list(accountId?: string): Promise<readonly KeyDetails[]>;
  show(id: string): Promise<KeyDetails | undefined>;
  /** Changes what a key may do, at once in every process on the database. @throws KeyError */
  update(id: string, changes: KeyChanges, actor: string): Promise<ApiKey>;
  /** Ends a key at once, in every process on the database. @throws KeyError */
  revoke(id: string, actor: string): Promise<void>;
  /**
   * Issues a new secret; the older ones stay valid for `graceMs`. Id, quota and usage stay.
   * @param graceMs - 0 to `MAX_GRACE_MS`
   * @throws KeyError
   */
  rotate(id: string, graceMs: number, actor: string): Promise<{ key: ApiKey; secret: string }>;
}

/**
 * The key service. Verified keys are remembered by hash until any process changes any key.
 * @param pepper - key of the HMAC the secrets are stored under
 */
export function createKeyService(store: KeyStore, pepper: Uint8Array, clock: Clock): KeyService {
  const verified = new LRUCache<string, VerifiedKey>({
    max: MAX_CACHED_KEYS,
  });
  let verifiedAtRevision = -1;

  const lookUp = async (hash: string) => {
    const found = await store.findByHash(hash);
    if (!found || found.key.revokedAt !== null || found.isAccountDisabled) return undefined;
    const key = toApiKey(found.key);
    const usableUntil = Math.min(
      key.expiresAt ?? Number.POSITIVE_INFINITY,
      found.secret.graceUntil ?? Number.POSITIVE_INFINITY,
    );
    return { key, usableUntil };
  };

  /** The key a secret opens, as of a revision of the keys. */
  const verifyAt = (revision: number, shown: ShownKey): Awaitable<ApiKey | undefined> => {
    const opened = shown.openedAt(revision);
    if (opened) return ifUsable(opened);
    if (revision !== verifiedAtRevision) {
      verified.clear();
      verifiedAtRevision = revision;
    }
    const { secret } = shown;
    const hash = hashKey(secret, pepper);
    const known = verified.get(hash);
    if (!known) return parseKey(secret) ? verifyAnew(revision, hash) : undefined;
    shown.remember(known, revision);
    return ifUsable(known);
  };

  const verifyAnew = async (revision: number, hash: string): Promise<ApiKey | undefined> => {
    const found = await lookUp(hash);
    if (found && revision === verifiedAtRevision) verified.set(hash, found);
    return found && ifUsable(found);
  };

  const ifUsable = ({ key, usableUntil }: VerifiedKey) =>
    usableUntil === Number.POSITIVE_INFINITY || clock.now() < usableUntil ? key : undefined;

  const newSecret = (environment: KeyEnvironment) => {
    const secret = generateKey(environment);
    const stored: StoredSecret = {
      hash: hashKey(secret, pepper),
      last4: secret.slice(-4),
      createdAt: clock.now(),
      graceUntil: null,
    };
    return { secret, stored };
  };

  const entry = (actor: string, action: string, subject: string, detail = {}): AuditEntry => ({
    at: clock.now(),
    actor,
    action,
    subject,
    detail,
  });

  const existing = async (id: string): Promise<ApiKey> => {
    const key = await store.find(id);
    if (!key) throw new KeyError(`No key has the id ${id}`);
    return toApiKey(key);
  };

  const verifyShown = (shown: ShownKey): Awaitable<ApiKey | undefined> => {
    if (shown.secret.length !== KEY_LENGTH) return undefined;
    const revision = store.revision();
    return revision instanceof Promise
      ? revision.then((late) => verifyAt(late, shown))
      : verifyAt(revision, shown);
  };

  return {
    verify: (secret) => verifyShown(new ShownKey(secret)),
    verifyShown,

    async create(input, actor, owner) {
      const { environment } = input;
      const now = clock.now();
      const granted = grantsOf(input, now);
      const id = `key_${randomBytes(8).toString("hex")}`;
      const accountId = owner?.accountId ?? null;
      const key = { ...granted, id, environment, createdAt: now, revokedAt: null, accountId };
      const { secret, stored } = newSecret(environment);
      const line = entry(actor, "key.create", id, { environment, ...auditable(granted) });
      if (await store.insert(key, stored, line, owner?.maxKeys)) return { key, secret };
      throw new KeyError(`An account may have at most ${owner?.maxKeys} keys`);
    },

    async list(accountId) {
      const keys = await store.list(accountId);
      // Those of one account are few; all others' are not read for them.
      const ids = accountId === undefined ? undefined : keys.map(({ id }) => id);
      const secrets = Map.groupBy(await store.secrets(ids), ({ keyId }) => keyId);
      return keys.map((key) => toDetails(key, secrets.get(key.id) ?? []));
    },

    async show(id) {
      const key = await store.find(id);
      return key && toDetails(key, await store.secrets([id]));
    },

    async update(id, changes, actor) {
      const checked = checkChanges(changes, clock.now());
      if (Object.keys(checked).length === 0) throw new KeyError("Nothing is to be changed");
      await existing(id);
      const line = entry(actor, "key.update", id, auditable(checked));
      if (!(await store.update(id, checked, line))) throw new KeyError(`Key ${id} is revoked`);
      return existing(id);
    },

    async revoke(id, actor) {
      await existing(id);
      const done = await store.revoke(id, clock.now(), entry(actor, "key.revoke", id));
      if (!done) throw new KeyError(`Key ${id} is revoked already`);
    },

    async rotate(id, graceMs, actor) {
      if (!Number.isInteger(graceMs) || graceMs < 0 || graceMs > MAX_GRACE_MS) {
        throw new KeyError("The grace must be from 0 seconds to 7 days");
      }
      const key = await existing(id);
      const { secret, stored } = newSecret(key.environment);
      const graceUntil = clock.now() + graceMs;
      const line = entry(actor, "key.rotate", id, { graceUntil });
      if (!(await store.rotate(id, stored, graceUntil, line))) {
        throw new KeyError(`Key ${id} is revoked`);
      }
      return { key, secret };
    },
  };
}

function toApiKey(key: StoredKey): ApiKey {
  return { ...key, scopes: key.scopes.filter(isScope) };
}

function toDetails(key: StoredKey, secrets: readonly StoredSecret[]): KeyDetails {
  const shown = secrets.map(({ last4, createdAt, graceUntil }) => ({
    hint: `sk_${key.environment}_…${last4}`,
    createdAt,
    graceUntil,
  }));
  return { ...toApiKey(key), secrets: shown };
}

/** Amounts as text, because the audit log is JSON. */
function auditable(granted: KeyChanges): Readonly<Record<string, unknown>> {
  const entries = Object.entries(granted);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === "bigint" ? String(value) : value]),
  );
}

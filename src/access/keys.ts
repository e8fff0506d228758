import { randomBytes } from "node:crypto";
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";
import type { AuditEntry, KeyStore, StoredKey, StoredSecret } from "../db/index.ts";
import type { Clock } from "../lib/clock.ts";
import { generateKey, hashKey, type KeyEnvironment, parseKey } from "./key.ts";
import { type Scope, scopes as knownScopes } from "./operations.ts";

/** Quota of a key without a window limit: the largest a 32-bit client can read, beyond any rate. */
export const UNLIMITED_WINDOW = 2_147_483_647;
/** Longest time an old secret may stay valid after a rotation. */
export const MAX_GRACE_MS = 7 * 86_400_000;

const MAX_CACHED_KEYS = 100_000;
const MAX_NAME_LENGTH = 100;

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
  readonly createdAt: number;
  readonly revokedAt: number | null;
}

/** An API key with what may be shown of its secrets, newest first. */
export interface KeyDetails extends ApiKey {
  readonly secrets: readonly {
    readonly hint: string;
    readonly createdAt: number;
    readonly graceUntil: number | null;
  }[];
}

export interface NewKey {
  readonly environment: KeyEnvironment;
  readonly scopes: readonly string[];
  readonly name?: string;
  readonly windowLimit?: number | null;
  readonly cuAllowance?: number | null;
  readonly expiresAt?: number | null;
  readonly ipAllowList?: readonly string[];
}

/** An operator's request that cannot be carried out; the message says why. */
export class KeyError extends Error {
  override readonly name = "KeyError";
}

/** Issues, checks and ends API keys. */
export interface KeyService {
  /**
   * The key a presented secret opens now.
   * @returns undefined when it is malformed, unknown, revoked, expired or past its grace
   */
  verify(secret: string): Promise<ApiKey | undefined>;
  /** @returns the key and its secret, which is shown this once. @throws KeyError */
  create(input: NewKey, actor: string): Promise<{ key: ApiKey; secret: string }>;
  list(): Promise<readonly ApiKey[]>;
  show(id: string): Promise<KeyDetails | undefined>;
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
  const verified = new LRUCache<string, { key: ApiKey; usableUntil: number }>({
    max: MAX_CACHED_KEYS,
  });
  let verifiedAtRevision = -1;

  const lookUp = async (hash: string) => {
    const found = await store.findByHash(hash);
    if (!found || found.key.revokedAt !== null) return undefined;
    const key = toApiKey(found.key);
    const usableUntil = Math.min(
      key.expiresAt ?? Number.POSITIVE_INFINITY,
      found.secret.graceUntil ?? Number.POSITIVE_INFINITY,
    );
    return { key, usableUntil };
  };

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

  return {
    async verify(secret) {
      if (!parseKey(secret)) return undefined;
      const hash = hashKey(secret, pepper);
      const revision = await store.revision();
      if (revision !== verifiedAtRevision) {
        verified.clear();
        verifiedAtRevision = revision;
      }
      let entryOfHash = verified.get(hash);
      if (!entryOfHash) {
        entryOfHash = await lookUp(hash);
        if (!entryOfHash) return undefined;
        if (revision === verifiedAtRevision) verified.set(hash, entryOfHash);
      }
      return clock.now() < entryOfHash.usableUntil ? entryOfHash.key : undefined;
    },

    async create(input, actor) {
      const key = checkNewKey(input, clock.now());
      const { secret, stored } = newSecret(key.environment);
      const { id, createdAt: _createdAt, revokedAt: _revokedAt, ...granted } = key;
      await store.insert(key, stored, entry(actor, "key.create", id, granted));
      return { key, secret };
    },

    list: async () => (await store.list()).map(toApiKey),

    async show(id) {
      const key = await store.find(id);
      if (!key) return undefined;
      const secrets = (await store.secrets(id)).map(({ last4, createdAt, graceUntil }) => ({
        hint: `sk_${key.environment}_…${last4}`,
        createdAt,
        graceUntil,
      }));
      return { ...toApiKey(key), secrets };
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

function isScope(name: string): name is Scope {
  return (knownScopes as readonly string[]).includes(name);
}

function checkNewKey(input: NewKey, now: number): ApiKey {
  const { windowLimit = null, cuAllowance = null, expiresAt = null, ipAllowList = [] } = input;
  const name = (input.name ?? "").trim();
  if (name.length > MAX_NAME_LENGTH) {
    throw new KeyError(`The name must have at most ${MAX_NAME_LENGTH} characters`);
  }
  const unknown = input.scopes.find((scope) => !isScope(scope));
  if (unknown !== undefined) {
    throw new KeyError(`Unknown scope '${unknown}'; there are ${knownScopes.join(", ")}`);
  }
  if (input.scopes.length === 0) throw new KeyError("A key needs at least one scope");
  checkQuota("window limit", windowLimit, 1, UNLIMITED_WINDOW);
  checkQuota("CU allowance", cuAllowance, 0, Number.MAX_SAFE_INTEGER);
  if (expiresAt !== null && !(Number.isInteger(expiresAt) && expiresAt > now)) {
    throw new KeyError("The expiry must lie in the future");
  }
  for (const block of ipAllowList) {
    if (!ipaddr.isValid(block) && !ipaddr.isValidCIDR(block)) {
      throw new KeyError(`'${block}' is neither an IP address nor a CIDR block`);
    }
  }
  return {
    id: `key_${randomBytes(8).toString("hex")}`,
    environment: input.environment,
    name,
    scopes: [...new Set(input.scopes)].filter(isScope),
    windowLimit,
    cuAllowance,
    expiresAt,
    ipAllowList: [...ipAllowList],
    createdAt: now,
    revokedAt: null,
  };
}

function checkQuota(what: string, value: number | null, min: number, max: number): void {
  if (value === null) return;
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new KeyError(`The ${what} must be an integer from ${min} to ${max}`);
  }
}

import type { KeyStore, StoredKey } from "./types.ts";
import type { SqliteConnection } from "./sqlite.ts";

/** A record of the view `key_records`. */
type KeyRecord = readonly [
  id: string,
  environment: StoredKey["environment"],
  name: string,
  scopes: readonly string[],
  windowLimit: number | null,
  cuAllowance: number | null,
  expiresAt: number | null,
  ipAllowList: readonly string[],
  bridgePerTransferAtomic: string | null,
  bridgePerDayAtomic: string | null,
  createdAt: number,
  revokedAt: number | null,
  accountId: string | null,
  last4: string,
  secretCreatedAt: number,
  graceUntil: number | null,
  accountDisabledAt: number | null,
];

/** Finds keys by their secrets' hashes: one row of one column, since each column costs 1 µs. */
export function createKeyLookup({ client }: SqliteConnection): KeyStore["findByHash"] {
  const select = client.query<{ record: string }, [string]>(
    "SELECT record FROM key_lookup WHERE hash = ?",
  );
  return (hash) => {
    const found = select.get(hash);
    return found ? read(hash, JSON.parse(found.record) as KeyRecord) : undefined;
  };
}

function read(hash: string, record: KeyRecord) {
  const [id, environment, name, scopes, windowLimit, cuAllowance, expiresAt, ...others] = record;
  const [ipAllowList, perTransfer, perDay, createdAt, revokedAt, accountId, ...ofSecret] = others;
  const [last4, secretCreatedAt, graceUntil, accountDisabledAt] = ofSecret;
  const key: StoredKey = {
    id,
    environment,
    name,
    scopes,
    windowLimit,
    cuAllowance,
    expiresAt,
    ipAllowList,
    bridgePerTransferAtomic: perTransfer === null ? null : BigInt(perTransfer),
    bridgePerDayAtomic: perDay === null ? null : BigInt(perDay),
    createdAt,
    revokedAt,
    accountId,
  };
  return {
    key,
    secret: { hash, last4, createdAt: secretCreatedAt, graceUntil },
    isAccountDisabled: accountDisabledAt !== null,
  };
}

import { sql } from "drizzle-orm";
import { KEYS_REVISION } from "./revisionNames.ts";
import { settings } from "./schema.ts";
import type { SqliteConnection } from "./sqlite.ts";

/** How long a look at the revision holds: a change by another process is seen after at most this. */
const HOLDS_MS = 1;

/** A number that differs after any process changed what a key may do. */
export interface KeysRevision {
  read(): number;
  /** Steps it, as part of the change. */
  step(tx: Pick<SqliteConnection["orm"], "insert">): void;
}

/**
 * The keys' revision. `PRAGMA data_version` differs only after a commit of another connection and
 * costs less than any query, so the row is read again only then. Beside steady commits even the
 * pragma costs 5 µs, so requests of the same millisecond share one look.
 */
export function createKeysRevision({ client }: SqliteConnection): KeysRevision {
  const dataVersion = client.query<{ data_version: number }, []>("PRAGMA data_version");
  const select = client.query<{ value: string }, [string]>(
    "SELECT value FROM settings WHERE name = ?",
  );
  let holdsUntil = 0;
  let seenDataVersion = -1;
  let revision = 0;
  return {
    read() {
      const now = performance.now();
      if (now < holdsUntil) return revision;
      holdsUntil = now + HOLDS_MS;
      const current = dataVersion.get()?.data_version ?? -1;
      if (current === seenDataVersion) return revision;
      revision = Number(select.get(KEYS_REVISION)?.value ?? 0);
      seenDataVersion = current;
      return revision;
    },
    step(tx) {
      tx.insert(settings)
        .values({ name: KEYS_REVISION, value: "1" })
        .onConflictDoUpdate({
          target: settings.name,
          set: { value: sql`CAST(CAST(${settings.value} AS INTEGER) + 1 AS TEXT)` },
        })
        .run();
      // Own commits leave the data version as it is.
      holdsUntil = 0;
      seenDataVersion = -1;
    },
  };
}

import { asc, eq } from "drizzle-orm";
import { upstreamChanges } from "./schema.ts";
import type { SqliteConnection } from "./sqlite.ts";
import type { UpstreamChangeStore } from "./types.ts";

/** Run-time changes of upstreams in SQLite. */
export function createUpstreamChangeStore({ orm }: SqliteConnection): UpstreamChangeStore {
  return {
    list: () =>
      orm
        .select()
        .from(upstreamChanges)
        .orderBy(asc(upstreamChanges.changedAt), asc(upstreamChanges.id))
        .all(),
    put(change) {
      const { chainId, kind, sealed, changedAt } = change;
      orm
        .insert(upstreamChanges)
        .values(change)
        .onConflictDoUpdate({
          target: upstreamChanges.id,
          set: { chainId, kind, sealed, changedAt },
        })
        .run();
    },
    drop(id) {
      orm.delete(upstreamChanges).where(eq(upstreamChanges.id, id)).run();
    },
  };
}

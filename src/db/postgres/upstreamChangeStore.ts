import { asc, eq } from "drizzle-orm";
import { CONFIG_REVISION } from "../revisionNames.ts";
import type { UpstreamChangeStore } from "../types.ts";
import type { PostgresConnection } from "./connection.ts";
import { bump, type Revisions } from "./revisions.ts";
import { upstreamChanges } from "./schema.ts";

/** Run-time changes of upstreams in Postgres; every replica is told of each. */
export function createUpstreamChangeStore(
  { orm, repeatable, transaction }: PostgresConnection,
  revisions: Revisions,
): UpstreamChangeStore {
  return {
    list: () =>
      repeatable(() =>
        orm
          .select()
          .from(upstreamChanges)
          .orderBy(asc(upstreamChanges.changedAt), asc(upstreamChanges.id)),
      ),
    async put(change) {
      const { chainId, kind, sealed, changedAt } = change;
      await transaction(async (tx) => {
        await tx.insert(upstreamChanges).values(change).onConflictDoUpdate({
          target: upstreamChanges.id,
          set: { chainId, kind, sealed, changedAt },
        });
        await bump(tx, CONFIG_REVISION);
      });
      await revisions.changed();
    },
    async drop(id) {
      await transaction(async (tx) => {
        await tx.delete(upstreamChanges).where(eq(upstreamChanges.id, id));
        await bump(tx, CONFIG_REVISION);
      });
      await revisions.changed();
    },
  };
}

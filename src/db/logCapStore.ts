import { eq } from "drizzle-orm";
import { logCaps } from "./schema.ts";
import type { SqliteConnection } from "./sqlite.ts";
import type { LogCapStore } from "./types.ts";

/** Learnt limits of `eth_getLogs` in SQLite. */
export function createLogCapStore({ orm }: SqliteConnection): LogCapStore {
  return {
    list: (chainId) => orm.select().from(logCaps).where(eq(logCaps.chainId, chainId)).all(),
    save(cap) {
      const { maxBlocks, maxResults, acceptedBlocks, learnedAt } = cap;
      orm
        .insert(logCaps)
        .values(cap)
        .onConflictDoUpdate({
          target: [logCaps.chainId, logCaps.upstream],
          set: { maxBlocks, maxResults, acceptedBlocks, learnedAt },
        })
        .run();
    },
  };
}

import { eq } from "drizzle-orm";
import type { LogCapStore } from "../types.ts";
import type { PostgresConnection } from "./connection.ts";
import { logCaps } from "./schema.ts";

/** Learnt limits of `eth_getLogs` in Postgres. */
export function createLogCapStore({ orm, repeatable }: PostgresConnection): LogCapStore {
  return {
    list: (chainId) =>
      repeatable(() => orm.select().from(logCaps).where(eq(logCaps.chainId, chainId))),
    save: (cap) =>
      repeatable(async () => {
        const { maxBlocks, maxResults, acceptedBlocks, learnedAt } = cap;
        await orm
          .insert(logCaps)
          .values(cap)
          .onConflictDoUpdate({
            target: [logCaps.chainId, logCaps.upstream],
            set: { maxBlocks, maxResults, acceptedBlocks, learnedAt },
          });
      }),
  };
}

import { desc, lt } from "drizzle-orm";
import { audit } from "./schema.ts";
import type { SqliteConnection } from "./sqlite.ts";
import type { AuditStore } from "./types.ts";

/** The audit log in SQLite; triggers keep it append-only. */
export function createAuditStore({ orm }: SqliteConnection): AuditStore {
  return {
    append(entry) {
      orm.insert(audit).values(entry).run();
    },
    list: ({ limit, beforeId }) =>
      orm
        .select()
        .from(audit)
        .where(beforeId === undefined ? undefined : lt(audit.id, beforeId))
        .orderBy(desc(audit.id))
        .limit(limit)
        .all(),
  };
}
